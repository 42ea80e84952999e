/** A place in three lines of plain text: `curl host/now/ikeja`. */

import { pathOf } from '../../place-links.ts'
import type { PlaceNow } from '../../place-now.ts'
import { dateTimeIn, type PlaceTexts, placeWords, plainName } from '../../place-words.ts'

export function placeText(place: PlaceNow, texts: PlaceTexts, publicUrl: string): string {
  const words = placeWords(place, texts)
  const facts = [words.basis, words.times].filter(Boolean).join(', ')
  const time = dateTimeIn(place.timezone, Date.parse(place.made_at), texts)
  return [
    `${plainName(place.name)}: ${place.air === null ? words.verdict : `${words.number} ${words.verdict}`}${facts === '' ? '' : ` (${facts})`}`,
    [words.advice, words.last].filter(Boolean).join(' '),
    `${time}  ${publicUrl}${pathOf(place)}`,
    '',
  ].join('\n')
}
