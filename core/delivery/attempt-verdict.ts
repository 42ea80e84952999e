/**
 * What the result of an attempt means: for its delivery, whether and when the next one is due; for the
 * endpoint, when it is given a rest, when it is disabled, and when its owner gets a warning.
 */
import { dayMs, hourMs, minuteMs, secondMs } from '../time.ts'
import type { Health } from './delivery.ts'

export type AttemptEnd = {
  /** The status of a response that arrived completely, or as far as we read; undefined: none did. */
  readonly status: number | undefined
  readonly isTimeout: boolean
  /** What `Retry-After` requests, ms from now. */
  readonly retryAfterMs: number | undefined
}

export type AttemptVerdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retry'; readonly inMs: number }
  /** After the last attempt. */
  | { readonly outcome: 'dead' }
  /** 410: the receiver is gone permanently. */
  | { readonly outcome: 'disabled' }

const gone = 410
const busy: readonly number[] = [429, 502, 503, 504]

/**
 * @param attempts made so far, this one included
 * @param random uniform, 0 ≤ random < 1
 */
export function judgeAttempt(end: AttemptEnd, attempts: number, random: number): AttemptVerdict {
  const { status, isTimeout, retryAfterMs } = end
  if (status !== undefined && status >= 200 && status < 300) return { outcome: 'delivered' }
  if (status === gone) return { outcome: 'disabled' }
  const isBusy = isTimeout || (status !== undefined && busy.includes(status))
  const inMs = retryDelayMs({ attempts, isBusy, retryAfterMs }, random)
  return inMs === undefined ? { outcome: 'dead' } : { outcome: 'retry', inMs }
}

/** The wait before each retry: 11 attempts over about three days. */
export const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  30 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]

const jitterShare = 0.2
/** The minimum wait for a receiver that reports that it is busy, or did not respond. */
const busyMs = minuteMs
/** The longest wait that a receiver may request with `Retry-After`. */
const longestRequestedMs = 24 * hourMs

type Failure = {
  /** Attempts made so far, this one included: 1…11. */
  readonly attempts: number
  /** 429, 502…504 or a timeout. */
  readonly isBusy: boolean
  /** The receiver's `Retry-After`, ms from now; undefined if it sent none. */
  readonly retryAfterMs: number | undefined
}

/**
 * @param random uniform, 0 ≤ random < 1
 * @returns ms until the next attempt, or undefined after the last
 */
export function retryDelayMs(failure: Failure, random: number): number | undefined {
  const { attempts, isBusy, retryAfterMs = 0 } = failure
  const base = retryDelaysMs[attempts - 1]
  if (base === undefined) return undefined
  const jittered = base * (1 + jitterShare * (2 * random - 1))
  const requested = Math.min(Math.max(0, retryAfterMs), longestRequestedMs)
  return Math.round(Math.max(jittered, requested, isBusy ? busyMs : 0))
}

/**
 * `Retry-After` (RFC 9110 §10.2.3): seconds, or an HTTP date.
 * @param parseDate ms since the epoch of an HTTP date, NaN for any other text
 * @returns ms from now, never negative; undefined if the header is missing or cannot be parsed
 */
export function parseRetryAfter(
  text: string | undefined,
  nowMs: number,
  parseDate: (text: string) => number,
): number | undefined {
  const trimmed = text?.trim() ?? ''
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * secondMs
  if (!/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(trimmed))
    return undefined
  const atMs = parseDate(trimmed)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}

const failuresToOpen = 5
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

type BreakerState = 'closed' | 'open' | 'half_open'

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

const disableAfterMs = 5 * dayMs
const leastFailures = 20

/** How long it has failed when a warning is due; another mail goes out when it is disabled. */
export const warningsMs = [dayMs, 4 * dayMs] as const

type HealthVerdict = 'fine' | 'warn' | 'disable'

export const failedAt = ({ failures, firstFailureMs }: Health, nowMs: number): Health => ({
  failures: failures + 1,
  firstFailureMs: failures === 0 ? nowMs : firstFailureMs,
  lastFailureMs: nowMs,
})

/**
 * Disabled: no success for five days, and at least 20 failures. A warning is due each time a mark is passed between two failures.
 */
export function judgeHealth(before: Health, after: Health): HealthVerdict {
  if (after.failures === 0) return 'fine'
  const spanMs = after.lastFailureMs - after.firstFailureMs
  if (spanMs >= disableAfterMs && after.failures >= leastFailures) return 'disable'
  const spanBeforeMs = before.failures === 0 ? 0 : before.lastFailureMs - before.firstFailureMs
  return warningsMs.some((mark) => spanBeforeMs < mark && mark <= spanMs) ? 'warn' : 'fine'
}
