/** What the result of an attempt means for its delivery and its webhook. */
import { attemptCount, retryDelayMs } from './backoff.ts'

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
  const inMs =
    attempts < attemptCount ? retryDelayMs({ attempts, isBusy, retryAfterMs }, random) : undefined
  return inMs === undefined ? { outcome: 'dead' } : { outcome: 'retry', inMs }
}
