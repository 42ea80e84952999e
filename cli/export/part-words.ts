import type { BatchPart } from './check-manifest.ts'

/** More batches than that are counted, not listed. */
const mostListed = 5

/** "1640 of the 3122 readings of batch 1" */
export function partWords(parts: readonly BatchPart[]): string {
  if (parts.length === 0) return 'no reading that is anchored'
  if (parts.length <= mostListed) return parts.map(partInWords).join(', ')
  const total = (of: (part: BatchPart) => number): number =>
    parts.reduce((sum, part) => sum + of(part), 0)
  const whole = parts.filter(({ rows, count }) => rows === count).length
  const isAre = whole === 1 ? 'is' : 'are'
  return `${total(({ rows }) => rows)} of the ${total(({ count }) => count)} readings of ${parts.length} batches, ${whole} of which ${isAre} here whole`
}

function partInWords({ index, rows, count }: BatchPart): string {
  if (rows < count) return `${rows} of the ${count} readings of batch ${index}`
  return count === 1
    ? `the one reading of batch ${index}`
    : `all ${count} readings of batch ${index}`
}
