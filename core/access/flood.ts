/**
 * How much a sensor may send, over all ways together: so many messages a second, with a burst for
 * what it had to keep. A long message counts as several.
 */
import { secondMs } from '../time.ts'

export type FloodBounds = { readonly perSecond: number; readonly burst: number }

/** With arrays, 600 messages bring back a year of a sensor that measures every five minutes. */
export const defaultFloodBounds: FloodBounds = { perSecond: 1, burst: 600 }

/** So much of a body is one message: 160 readings in an array, a whole state of any device. */
const bytesOfOne = 16 * 1024

/** @returns what they count for */
export const messagesIn = (messages: number, bytes: number): number =>
  Math.max(messages, bytes / bytesOfOne)

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
