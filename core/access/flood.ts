/**
 * How much a sensor may send, over MQTT and HTTP together: a number of messages per second, with a
 * burst for readings that it had to store while offline. A long message counts as several.
 */
import { secondMs } from '../time.ts'

export type FloodBounds = { readonly perSecond: number; readonly burst: number }

/** With arrays, 600 messages carry a year of a sensor that measures every five minutes. */
export const defaultFloodBounds: FloodBounds = { perSecond: 1, burst: 600 }

/** Room for 160 readings in an array, or for a whole state of any device. */
const bytesPerMessage = 16 * 1024

/** @returns the number of messages that they are charged as */
export const messagesIn = (messages: number, bytes: number): number =>
  Math.max(messages, bytes / bytesPerMessage)

/** Messages that it may still send at once; a sensor not seen before has the whole burst. */
export type Allowance = { readonly left: number; readonly atMs: number }

/** @returns what is left after the messages: below zero, the sensor floods */
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
