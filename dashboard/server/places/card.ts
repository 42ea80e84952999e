/** The picture that messengers show with a link: 1200 by 630, drawn from the same words. */
import { type UsCategory, usBands } from '../../../core/air/index/us-bands.ts'
import { canDraw } from '../../drawable.ts'
import type { PlaceNow } from '../../place-now.ts'
import { dateTimeIn, type PlaceTexts, placeWords, plainName, shortened } from '../../place-words.ts'
import { Html, html } from '../html.ts'
import type { ReadingNow } from './places.ts'

/** The name if it can be drawn, else what else there is. */
const drawable = (...names: readonly string[]): string => names.map(plainName).find(canDraw) ?? ''

/** Lines of about that length, in letters; what is more than `most` lines is cut. */
export function wrapped(text: string, letters: number, most: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).flatMap((word) => piecesOf(word, letters))) {
    if (line !== '' && line.length + 1 + word.length > letters) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  if (line !== '') lines.push(line)
  const [last = ''] = lines.slice(most - 1)
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `${shortened(last, letters - 2).replace(/…$/, '')}…`]
}

const piecesOf = (word: string, letters: number): readonly string[] =>
  word.length <= letters ? [word] : (word.match(new RegExp(`.{1,${letters}}`, 'gsu')) ?? [])

type Looks = {
  readonly x?: number
  readonly size: number
  readonly fill?: string
  readonly isBold?: boolean
}

/** The font has one weight here: bold is drawn with an outline. */
const line = (
  words: string,
  y: number,
  { x = 72, size, fill = '#131c1e', isBold = false }: Looks,
): Html =>
  html`<text x="${x}" y="${y}" font-size="${size}" fill="${fill}"${isBold && html` stroke="${fill}" stroke-width="${size / 34}" stroke-linejoin="round"`}>${words}</text>`

const muted = '#515d61'

function picture(category: UsCategory | undefined, parts: readonly Html[]): string {
  const color = usBands.find((band) => band.category === category)?.color ?? '#9aa4a4'
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630" font-family="Inter"><rect width="1200" height="630" fill="#ffffff"/><rect width="1200" height="630" fill="${color}" fill-opacity="0.14"/><rect width="28" height="630" fill="${color}"/>${parts}</svg>`
    .text
}

export function placeCard(place: PlaceNow, texts: PlaceTexts): string {
  const words = placeWords(place, texts)
  const area = place.area === null ? '' : drawable(place.area.name)
  const name = drawable(place.name, place.id)
  const title = wrapped(area === '' || name.includes(area) ? name : `${name}, ${area}`, 40, 2)
  const time = dateTimeIn(place.timezone, Date.parse(place.made_at), texts)
  const verdict = wrapped(words.verdict, 24, 2)
  const advice = wrapped(words.advice, 76, 3)
  const numberX = 72
  const verdictX = numberX + 30 + words.number.length * 116
  return picture(place.air?.category, [
    ...title.map((part, at) => line(part, 108 + at * 62, { size: 52, isBold: true })),
    line(words.number, 352, { x: numberX, size: 190, isBold: true }),
    ...verdict.map((part, at) =>
      line(part, (verdict.length === 1 ? 300 : 272) + at * 54, {
        x: verdictX,
        size: 48,
        isBold: true,
      }),
    ),
    line(words.basis, 356, { x: verdictX, size: 26, fill: muted }),
    ...advice.map((part, at) => line(part, 424 + at * 38, { size: 29 })),
    line([words.times, time].filter(Boolean).join('  ·  '), 576, { size: 26, fill: muted }),
    line('airproof', 576, { x: 1016, size: 30, isBold: true }),
  ])
}

/** Of one reading: what was measured, and that it can be checked; no verdict, which may change. */
export function proofCard(reading: ReadingNow, place: PlaceNow, texts: PlaceTexts): string {
  const { city, format } = texts
  const name = wrapped(drawable(place.name, place.id), 40, 2)
  const amount = (value: number | null): string =>
    value === null ? '–' : `${format.number(value, 1)} µg/m³`
  const category = usBands.findLast(({ aqi }) => (reading.aqi ?? -1) >= aqi.low)?.category
  return picture(category, [
    ...name.map((part, at) => line(part, 108 + at * 62, { size: 52, isBold: true })),
    line('PM2.5', 270, { size: 30, fill: muted }),
    line(amount(reading.pm25), 350, { size: 76, isBold: true }),
    line('PM10', 270, { x: 640, size: 30, fill: muted }),
    line(amount(reading.pm10), 350, { x: 640, size: 76, isBold: true }),
    line(dateTimeIn(place.timezone, Date.parse(reading.timestamp), texts), 436, { size: 32 }),
    line(city.proofCard, 490, { size: 32 }),
    line(place.id, 576, { size: 26, fill: muted }),
    line('airproof', 576, { x: 1016, size: 30, isBold: true }),
  ])
}
