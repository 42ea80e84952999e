import { defaultFloodBounds } from '../../core/flood.ts'
import { type RateLimit, rateVerdict } from '../../core/rate-limit.ts'
import { secondMs } from '../../core/time.ts'
import { notNow } from './push-error.ts'
import { remember } from './remember.ts'

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
  const states = new Map<string, number>()
  return (sensor) => {
    const nowMs = clockMs()
    const verdict = rateVerdict(
      limitOf(sensor) ?? defaultFloodBounds,
      states.get(sensor) ?? 0,
      nowMs,
    )
    if (!verdict.allowed) {
      const seconds = Math.max(1, Math.ceil((verdict.atMs - nowMs) / secondMs))
      throw notNow(429, 'flood', 'this sensor sends more often than it may: wait', seconds)
    }
    remember(states, sensor, verdict.state, most)
  }
}
