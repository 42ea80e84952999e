/**
 * The value at rank floor(n·p/100 + ½), counted from 1 and clamped to the list: the nearest rank,
 * as in InfluxQL, so that both stores give the same result.
 *
 * @param sorted ascending  @param p 0…100  @returns null for an empty list
 */
export function percentile(sorted: ArrayLike<number>, p: number): number | null {
  const rank = Math.floor((sorted.length * p) / 100 + 0.5)
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] ?? null
}

/** The middle value, or the mean of the two middle ones. @param sorted ascending */
export function median(sorted: ArrayLike<number>): number | null {
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return lower === undefined || upper === undefined ? null : (lower + upper) / 2
}
