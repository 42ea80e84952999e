import { type RateLimit, rateVerdict } from './rate-limit.ts'
import { remember } from './remember.ts'

export type RateBook = {
  /**
   * Counts one try, or as many as it costs.
   * @param nowMs of a clock that never goes back
   * @returns 0 where it may; else ms to wait, and the try counts for nothing
   */
  readonly waitMs: (who: string, limit: RateLimit, nowMs: number, cost?: number) => number
  /** All tries of `who` are forgiven. */
  readonly forget: (who: string) => void
}

/** So many tries for each name. @param most bound on the names; who was not heard of longest is forgotten */
export function createRateBook(most: number): RateBook {
  const states = new Map<string, number>()
  return {
    waitMs: (who, limit, nowMs, cost) => {
      const verdict = rateVerdict(limit, states.get(who) ?? 0, nowMs, cost)
      if (!verdict.allowed) return Math.max(1, verdict.atMs - nowMs)
      remember(states, who, verdict.state, most)
      return 0
    },
    forget: (who) => void states.delete(who),
  }
}
