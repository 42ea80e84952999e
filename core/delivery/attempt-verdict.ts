/** What the result of an attempt means for its delivery and its webhook, and when the next one is due. */
import { hourMs, minuteMs, secondMs } from '../time.ts'

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
