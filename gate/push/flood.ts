import { defaultFloodBounds, messagesIn } from '../../core/access/flood.ts'
import { createRateBook } from '../../core/access/rate-book.ts'
import type { RateLimit } from '../../core/access/rate-limit.ts'
import { secondMs } from '../../core/time.ts'
import { notNow } from './push-error.ts'

type Options = {
  /** Of the sensor's registry entry. */
  readonly limitOf: (sensor: string) => RateLimit | undefined
  /** How long a sensor that flooded, over any protocol, must still wait; 0: it need not. */
  readonly pausedForMs: (sensor: string) => number
  /** Called with what is let in, so that a sensor has one budget over HTTP, NATS and MQTT. */
  readonly onSpent: (sensor: string, messages: number) => void
  /** A clock that never goes back, in ms. */
  readonly clockMs: () => number
  readonly most?: number
}

export type FloodGuard = (sensor: string, bytes: number) => void

/** Counts a message of a sensor. @throws PushError 429 */
export function floodGuard({
  limitOf,
  pausedForMs,
  onSpent,
  clockMs,
  most = 100_000,
}: Options): FloodGuard {
  const book = createRateBook(most)
  return (sensor, bytes) => {
    const cost = messagesIn(1, bytes)
    const ms =
      pausedForMs(sensor) ||
      book.waitMs(sensor, limitOf(sensor) ?? defaultFloodBounds, clockMs(), cost)
    if (ms === 0) return onSpent(sensor, cost)
    const seconds = Math.max(1, Math.ceil(ms / secondMs))
    throw notNow(429, 'flood', `${sensor} sends more often than it may: wait`, seconds)
  }
}

/** For 100,000 LoRaWAN devices, a reading each per five minutes; each sensor is counted too. */
export const ofApplication = { perSecond: 500, burst: 5_000 } as const
