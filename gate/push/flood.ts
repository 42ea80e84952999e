import { defaultFloodBounds } from '../../core/flood.ts'
import { createRateBook } from '../../core/rate-book.ts'
import type { RateLimit } from '../../core/rate-limit.ts'
import { secondMs } from '../../core/time.ts'
import { notNow } from './push-error.ts'

type Options = {
  /** Of the sensor's registry entry. */
  readonly limitOf: (sensor: string) => RateLimit | undefined
  /** A clock that never goes back, in ms. */
  readonly clockMs: () => number
  readonly most?: number
}

/** Counts a message of a sensor. @throws PushError 429 */
export function floodGuard({
  limitOf,
  clockMs,
  most = 100_000,
}: Options): (sensor: string) => void {
  const book = createRateBook(most)
  return (sensor) => {
    const ms = book.waitMs(sensor, limitOf(sensor) ?? defaultFloodBounds, clockMs())
    if (ms === 0) return
    const seconds = Math.max(1, Math.ceil(ms / secondMs))
    throw notNow(429, 'flood', 'this sensor sends more often than it may: wait', seconds)
  }
}
