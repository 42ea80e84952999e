/** When is an endpoint disabled, and when does its owner get a warning? */

import { dayMs, hourMs } from '../time.ts'
import type { Health } from './ledger-record.ts'

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
