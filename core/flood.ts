/** How much a sensor may send: so many messages a second, with a burst for what it had to keep. */
import { secondMs } from './time.ts'

export type FloodBounds = { readonly perSecond: number; readonly burst: number }

/** An array is one message: 600 of them bring back two days of a sensor's readings, and more. */
export const defaultFloodBounds: FloodBounds = { perSecond: 1, burst: 600 }

/** Messages it may still send at once; undefined for a sensor not seen before: the whole burst. */
export type Allowance = { readonly left: number; readonly atMs: number }

/** @returns what is left after so many messages: below zero, it floods */
export function spend(
  allowance: Allowance | undefined,
  messages: number,
  nowMs: number,
  { perSecond, burst }: FloodBounds,
): Allowance {
  const { left, atMs } = allowance ?? { left: burst, atMs: nowMs }
  const earned = (Math.max(0, nowMs - atMs) / secondMs) * perSecond
  return { left: Math.min(burst, left + earned) - messages, atMs: nowMs }
}
