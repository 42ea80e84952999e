/**
 * What an account may request: a number of requests per UTC day, and per minute. Requests that
 * wait together are judged together, in the order of their arrival, on one count.
 */
import { formatIso } from '../iso-time.ts'
import { dayMs, floorTo, minuteMs, secondMs } from '../time.ts'

export type Limits = { readonly perDay: number; readonly perMinute: number }

/** What an account has used of a day. */
export type Count = {
  /** Charged requests of the day. */
  readonly used: number
  /** The minute that `inMinute` counts, in minutes since the epoch. */
  readonly minute: number
  readonly inMinute: number
}

export const noCount: Count = { used: 0, minute: 0, inMinute: 0 }

/** A `request` is charged to the day and the minute; a `look` at the account's own usage, to the minute. */
export type Charge = 'request' | 'look'

export type QuotaVerdict =
  /** The count after this very request. */
  | { readonly allowed: true; readonly used: number; readonly inMinute: number }
  | { readonly allowed: false; readonly spent: 'day' | 'minute' }

const minuteOf = (nowMs: number): number => Math.floor(nowMs / minuteMs)

/**
 * @param refunds of this day, given back before anything is charged
 * @returns the new count, and a verdict for each of `charges` in their order
 */
export function chargeRound(
  count: Count,
  charges: readonly Charge[],
  {
    limits,
    refunds,
    nowMs,
  }: { readonly limits: Limits; readonly refunds: number; readonly nowMs: number },
): { readonly count: Count; readonly verdicts: readonly QuotaVerdict[] } {
  const minute = minuteOf(nowMs)
  let used = Math.max(0, count.used - refunds)
  let inMinute = count.minute === minute ? count.inMinute : 0
  const verdicts = charges.map((charge): QuotaVerdict => {
    const spent = spentLimit({ used, minute, inMinute }, charge, limits, nowMs)
    if (spent !== undefined) return { allowed: false, spent }
    if (charge === 'request') used++
    inMinute++
    return { allowed: true, used, inMinute }
  })
  return { count: { used, minute, inMinute }, verdicts }
}

/** The limit that would refuse one more; undefined: it would be allowed. */
export function spentLimit(
  count: Count,
  charge: Charge,
  { perDay, perMinute }: Limits,
  nowMs: number,
): 'day' | 'minute' | undefined {
  // the day first: of two waits, the client must learn the longer one
  if (charge === 'request' && count.used >= perDay) return 'day'
  if (count.minute === minuteOf(nowMs) && count.inMinute >= perMinute) return 'minute'
  return undefined
}

/** The UTC day, as `2026-01-31`. */
export function dayOf(nowMs: number): string {
  return formatIso(nowMs).slice(0, 10)
}

/** When the next day and the next minute begin, ms since the epoch. */
export const dayEndsMs = (nowMs: number): number => floorTo(nowMs, dayMs) + dayMs
export const minuteEndsMs = (nowMs: number): number => floorTo(nowMs, minuteMs) + minuteMs

/** Whole seconds from now until then, at least 1. */
export const secondsUntil = (thenMs: number, nowMs: number): number =>
  Math.max(1, Math.ceil((thenMs - nowMs) / secondMs))
