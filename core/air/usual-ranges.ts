/** What is usual in a network, as the operator writes it: `temperature=-20..40, co2=300..5000`. */
import { toHundredths } from './hundredths.ts'
import type { UsualRanges } from './quality.ts'
import { quantities, type Range } from './quantities.ts'

/** In words, for errors and questions. */
export const usualForm = 'like temperature=-20..40,co2=300..5000'

/** @returns the ranges in hundredths, or a sentence that says what is wrong */
export function parseUsualRanges(text: string): UsualRanges | string {
  const found = new Map<string, Range>()
  for (const part of text.split(',').map((word) => word.trim())) {
    const [, name = '', low = '', high = ''] =
      /^([a-z0-9_]+) *= *(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/.exec(part) ?? []
    const row = quantities.find((quantity) => quantity.name === name)
    if (row?.usual === undefined) {
      const names = quantities.filter(({ usual }) => usual).map((quantity) => quantity.name)
      return `"${part}" is not a range of ${names.join(' or ')}, ${usualForm}`
    }
    const [lowest, highest] = [low, high].map((end) => toHundredths(Number(end)) ?? Number.NaN)
    const range = { low: lowest ?? Number.NaN, high: highest ?? Number.NaN }
    if (!(range.low < range.high)) return `"${part}" must have its lower end first`
    const { hard } = row
    if (range.low < hard.low || range.high > hard.high)
      return `"${part}" must be within ${hard.low / 100}..${hard.high / 100}: values outside are dropped`
    if (found.has(name)) return `${name} is there twice`
    found.set(name, range)
  }
  return Object.fromEntries(found)
}
