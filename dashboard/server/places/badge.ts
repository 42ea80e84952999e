/** A place as a small picture for pages and READMEs: `/badge/area/{slug}.svg`. */
import { usBands } from '../../../core/air/index/us-bands.ts'
import type { PlaceNow } from '../../place-now.ts'
import { type PlaceTexts, placeWords, plainName, shortened } from '../../place-words.ts'
import { html } from '../html.ts'

const longestName = 40
const height = 20

export function badgeSvg(place: PlaceNow, texts: PlaceTexts): string {
  const words = placeWords(place, texts)
  const name = shortened(plainName(place.name), longestName)
  const value = place.air === null ? words.verdict : `${words.number} ${words.verdict}`
  const left = widthOf(name) + 12
  const right = widthOf(value) + 12
  const band = usBands.find(({ category }) => category === place.air?.category)
  const label = `${name}: ${value}`
  const text = (x: number, width: number, words: string, fill: string) =>
    html`<text x="${x}" y="14" fill="${fill}" textLength="${width}" lengthAdjust="spacingAndGlyphs" text-anchor="middle">${words}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}"><title>${label}</title><clipPath id="r"><rect width="${left + right}" height="${height}" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="${height}" fill="#303a3c"/><rect x="${left}" width="${right}" height="${height}" fill="${band?.color ?? '#9aa4a4'}"/></g><g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(left / 2, left - 12, name, '#ffffff')}${text(left + right / 2, right - 12, value, isDark(place.air?.category) ? '#ffffff' : '#131c1e')}</g></svg>`
    .text
}

/** The reader's font is not known: a usual width per letter, to which the text is then fitted. */
function widthOf(text: string): number {
  let width = 0
  for (const letter of text) {
    if (/[\u2066-\u2069\p{Mn}]/u.test(letter)) continue
    width += /[il.,:;|!' ]/.test(letter)
      ? 4
      : /[mwMW@]/.test(letter)
        ? 10
        : /\p{Lo}|\p{So}/u.test(letter)
          ? 11
          : 7
  }
  return Math.max(width, 8)
}

const isDark = (category: string | undefined): boolean =>
  category === 'very_unhealthy' || category === 'hazardous'
