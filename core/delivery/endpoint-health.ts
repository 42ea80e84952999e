/**
 * How an endpoint has behaved: when it is given a rest, when it is disabled, and when its owner gets
 * a warning.
 */
import { dayMs, hourMs, minuteMs, secondMs } from '../time.ts'
import type { Health } from './ledger-record.ts'

export const failuresToOpen = 5
const firstOpenMs = 30 * secondMs
const longestOpenMs = 10 * minuteMs

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

export const disableAfterMs = 5 * dayMs
const leastFailures = 20
const leastSpanMs = 12 * hourMs

/** How long it has failed when a warning is due; another mail goes out when it is disabled. */
export const warningsMs = [dayMs, 4 * dayMs] as const

export type HealthVerdict = 'fine' | 'warn' | 'disable'

export const failedAt = ({ failures, firstFailureMs }: Health, nowMs: number): Health => ({
  failures: failures + 1,
  firstFailureMs: failures === 0 ? nowMs : firstFailureMs,
  lastFailureMs: nowMs,
})

/**
 * Disabled: no success for five days, at least 20 failures, the first and the last of them at
 * least 12 hours apart. A warning is due each time a mark is passed between two failures.
 */
export function judgeHealth(before: Health, after: Health): HealthVerdict {
  if (after.failures === 0) return 'fine'
  const spanMs = after.lastFailureMs - after.firstFailureMs
  if (spanMs >= disableAfterMs && after.failures >= leastFailures && spanMs >= leastSpanMs)
    return 'disable'
  const spanBeforeMs = before.failures === 0 ? 0 : before.lastFailureMs - before.firstFailureMs
  return warningsMs.some((mark) => spanBeforeMs < mark && mark <= spanMs) ? 'warn' : 'fine'
}
