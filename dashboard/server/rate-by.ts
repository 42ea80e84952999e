import { createNetworkBook, createRateBook } from '../../core/access/rate-book.ts'
import type { RateLimit } from '../../core/access/rate-limit.ts'
import { tooMany } from './refusal.ts'

type Options = {
  readonly limit: RateLimit
  /** A clock that never goes back, in ms. */
  readonly clockMs: () => number
  /** Bound on the names remembered; the one unused for longest is forgotten. */
  readonly most?: number
  /** The names are networks, and their site (/48) may this many times as much. */
  readonly siteFactor?: number
}

export type RateBy = {
  /** Counts one try. @throws Refusal 429 where it is one too many; that try is not counted */
  readonly take: (who: string) => void
  /** The same without an error. */
  readonly tryTake: (who: string) => boolean
  /** All tries of `who` are forgotten. */
  readonly forget: (who: string) => void
}

/** A limit of tries for each name, in this process's memory. */
export function rateBy({ limit, clockMs, most = 10_000, siteFactor }: Options): RateBy {
  const book = siteFactor === undefined ? createRateBook(most) : createNetworkBook(most, siteFactor)
  const waitMs = (who: string): number => book.waitMs(who, limit, clockMs())
  return {
    take: (who) => {
      const ms = waitMs(who)
      if (ms > 0) throw tooMany(ms)
    },
    tryTake: (who) => waitMs(who) === 0,
    forget: book.forget,
  }
}
