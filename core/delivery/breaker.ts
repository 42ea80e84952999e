/**
 * A circuit breaker: an endpoint that fails gets no deliveries for a while, longer each time, and
 * is then tried with one delivery:
 *
 *     closed ──5 failures in a row──▶ open ──the time is over──▶ half open
 *        ▲                             ▲                            │
 *        └────────── success ──────────┼──── failure, twice as long ┘
 *
 * A delivery that waits meanwhile uses up no attempt.
 */
import { minuteMs, secondMs } from '../time.ts'

export const failuresToOpen = 5
const firstOpenMs = 30 * secondMs
const longestOpenMs = 10 * minuteMs

export type Breaker = {
  /** Since the last success. */
  readonly failures: number
  /** 0 while closed. */
  readonly openUntilMs: number
}

export const closedBreaker: Breaker = { failures: 0, openUntilMs: 0 }

export type BreakerState = 'closed' | 'open' | 'half_open'

export function breakerState({ openUntilMs }: Breaker, nowMs: number): BreakerState {
  if (openUntilMs === 0) return 'closed'
  return nowMs < openUntilMs ? 'open' : 'half_open'
}

/** @param random uniform, 0 ≤ random < 1, so that endpoints of one host are not retried at once */
export function afterFailure({ failures }: Breaker, nowMs: number, random: number): Breaker {
  const count = failures + 1
  if (count < failuresToOpen) return { failures: count, openUntilMs: 0 }
  const doubled = firstOpenMs * 2 ** Math.min(count - failuresToOpen, 10)
  const openMs = Math.min(doubled, longestOpenMs) * (0.8 + 0.4 * random)
  return { failures: count, openUntilMs: nowMs + openMs }
}
