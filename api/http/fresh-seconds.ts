import { dayMs } from '../../core/time.ts'

/**
 * For how long a page about a period may be kept without asking again. None is immutable: a late
 * reading may arrive for any time in the past, and the proof of a reading gets on. But once a
 * period is over for a day both are rare, so what a client has is at most five minutes old.
 */
export const freshSeconds = (endMs: number, nowMs: number): number =>
  endMs <= nowMs - dayMs ? 300 : 0
