/**
 * A rate per second, with a burst: the generic cell rate algorithm (ITU-T I.371), whose whole state
 * is one time.
 */
import { secondMs } from '../time.ts'

export type RateLimit = { readonly perSecond: number; readonly burst: number }

export type RateVerdict =
  | { readonly allowed: true; readonly state: number }
  | { readonly allowed: false; readonly atMs: number }

/** @param state of the previous verdict, 0 at first; both in ms of a clock that never goes back */
export function rateVerdict(
  { perSecond, burst }: RateLimit,
  state: number,
  nowMs: number,
  cost = 1,
): RateVerdict {
  // a cost above the burst would never be allowed
  const paid = Math.min(cost, burst)
  const intervalMs = secondMs / perSecond
  const theoreticalMs = Math.max(state, nowMs)
  const earliestMs = theoreticalMs - intervalMs * (burst - paid)
  if (nowMs < earliestMs) return { allowed: false, atMs: earliestMs }
  return { allowed: true, state: theoreticalMs + intervalMs * paid }
}
