/**
 * The listening clock: how long a partition's worker could have received from its sensors. It runs
 * only between two ticks at both of which the worker was listening (connected, and RAW read to its
 * end), so neither our own downtime nor the server's counts as a sensor's silence.
 */
import { secondMs } from '../time.ts'

/** The longest step of one tick: a process that was suspended did not listen meanwhile. */
export const longestStepMs = 5 * secondMs

export type ListeningClock = {
  readonly listenedMs: number
  /** The time of the last tick if the worker was listening then, else null. */
  readonly sinceMs: number | null
}

/** @param listenedMs from the snapshot or the last READINGS message; 0 at the very first start */
export const startListening = (listenedMs: number): ListeningClock => ({
  listenedMs,
  sinceMs: null,
})

/** @param nowMs of a clock that never jumps; should it run backwards, nothing is added */
export function tickListening(
  clock: ListeningClock,
  nowMs: number,
  listening: boolean,
): ListeningClock {
  const { listenedMs, sinceMs } = clock
  if (!listening) return { listenedMs, sinceMs: null }
  if (sinceMs === null) return { listenedMs, sinceMs: nowMs }
  const stepMs = Math.max(0, Math.min(longestStepMs, nowMs - sinceMs))
  return { listenedMs: listenedMs + stepMs, sinceMs: nowMs }
}
