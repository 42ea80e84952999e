import { hourMs, minuteMs, secondMs } from '../time.ts'

/** The wait before each attempt but the first: 11 attempts over about three days. */
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

export const attemptCount = retryDelaysMs.length + 1

const jitterShare = 0.2
/** A receiver that says it is busy, or did not answer, is left alone for at least this. */
const busyMs = minuteMs
/** What a receiver may ask for with `Retry-After`. */
const longestAskedMs = 24 * hourMs

export type Failure = {
  /** Attempts made so far, this one included: 1…11. */
  readonly attempts: number
  /** 429, 502…504 or a time-out. */
  readonly isBusy: boolean
  /** What the receiver asked for, ms from now; undefined where it asked for nothing. */
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
  const asked = Math.min(Math.max(0, retryAfterMs), longestAskedMs)
  return Math.round(Math.max(jittered, asked, isBusy ? busyMs : 0))
}

/**
 * `Retry-After` (RFC 9110 §10.2.3): seconds, or an HTTP date.
 * @param parseDate ms since the epoch of an HTTP date, NaN where it is none
 * @returns ms from now, never negative; undefined where the header says nothing we understand
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
