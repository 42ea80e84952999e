/**
 * What the rule of neighbours (`unlike-neighbours.ts`) remembers of the log: for each sensor the sums of
 * PM2.5 in steps of ten minutes, for two hours and a little more. A fold over READINGS without a clock:
 * time passes as the newest reading has it, so that every process that folds the same messages judges the same.
 */
import { isFail } from '../air/quality-level.ts'
import type { Reading } from '../air/reading.ts'
import type { SensorId } from '../air/sensor-id.ts'
import { pm25Of } from '../air/values.ts'
import { floorTo, futureToleranceMs, hourMs, minuteMs } from '../time.ts'

export const stepMs = 10 * minuteMs
export const windowMs = 2 * hourMs
const windowSteps = windowMs / stepMs
/** With fewer a sensor is not judged, and not compared with. */
const fewestSteps = windowSteps / 2
/** Readings reach the log later than they were measured, and clocks run ahead as far as is tolerated. */
const graceMs = futureToleranceMs + 2 * minuteMs
/** Those of the window, and those that begin before it can be judged. */
const ringSteps = windowSteps + Math.ceil(graceMs / stepMs) + 1

/** Of a step of the ring: which one it is, its sum in hundredths, and how many readings. */
const cells = 3

export type TwoHours = {
  readonly sensors: Map<SensorId, Float64Array>
  /** The newest reading of all, ms since the epoch. */
  newestMs: number
  /** The end of the two hours that were judged last. */
  judgedMs: number
  /** Readings of those two hours came after that. */
  hasLate: boolean
}

/** @param fromMs everything that was measured since then will be folded; absent: the whole log will be */
export const createTwoHours = (fromMs = -Infinity): TwoHours => ({
  sensors: new Map(),
  newestMs: -Infinity,
  judgedMs: fromMs === -Infinity ? fromMs : floorTo(fromMs - 1, stepMs) + windowMs,
  hasLate: false,
})

/** Folds an accepted reading, late or not. One that has failed says nothing. */
export const keepReading = (
  state: TwoHours,
  reading: Pick<Reading, 'sensor' | 'timeMs' | 'values' | 'flags'>,
): void => keepPm25(state, reading.sensor, reading.timeMs, pm25Of(reading.values), reading.flags)

/** The same of a reading that is not an object. */
export function keepPm25(
  state: TwoHours,
  sensor: SensorId,
  timeMs: number,
  pm25: number | null,
  flags: number,
): void {
  if (timeMs > state.newestMs) state.newestMs = timeMs
  if (pm25 === null || isFail(flags)) return
  const step = Math.floor(timeMs / stepMs)
  if (step * stepMs < state.newestMs - ringSteps * stepMs) return
  let ring = state.sensors.get(sensor)
  if (ring === undefined) {
    ring = new Float64Array(ringSteps * cells)
    state.sensors.set(sensor, ring)
  }
  const at = (step % ringSteps) * cells
  if (ring[at]! > step) return
  if (ring[at]! < step) ring.fill(0, at, at + cells)
  ring[at] = step
  ring[at + 1]! += pm25
  ring[at + 2]! += 1
  if (timeMs < state.judgedMs) state.hasLate = true
}

/**
 * The end of the two hours to judge now: of the newest that are over, or of the last ones again if
 * readings of them came since, as after an outage, when partitions catch up one after the other.
 * undefined: nothing is to be judged.
 */
export function dueEnd(state: TwoHours): number | undefined {
  const endMs = floorTo(state.newestMs - graceMs, stepMs)
  if (!(endMs > state.judgedMs || (endMs === state.judgedMs && state.hasLate))) return undefined
  state.judgedMs = endMs
  state.hasLate = false
  forgetSilent(state, endMs)
  return endMs
}

/** The mean of a sensor's two hours, each step of the same weight; undefined: too little is known. */
export function meanOf(
  { sensors }: TwoHours,
  sensor: SensorId,
  endMs: number,
  sinceMs: number,
): number | undefined {
  const ring = sensors.get(sensor)
  if (ring === undefined) return undefined
  const last = endMs / stepMs - 1
  // a step in which it moved is of neither place
  const first = Math.max(last - windowSteps + 1, Math.ceil(sinceMs / stepMs))
  let sum = 0
  let steps = 0
  for (let step = first; step <= last; step++) {
    const at = (step % ringSteps) * cells
    if (ring[at] !== step) continue
    sum += ring[at + 1]! / ring[at + 2]!
    steps++
  }
  return steps < fewestSteps ? undefined : sum / steps
}

/** What a sensor that is silent for two hours had is of no use any more. */
function forgetSilent({ sensors }: TwoHours, endMs: number): void {
  const first = endMs / stepMs - windowSteps
  for (const [sensor, ring] of sensors) {
    let newest = 0
    for (let at = 0; at < ring.length; at += cells) newest = Math.max(newest, ring[at]!)
    if (newest < first) sensors.delete(sensor)
  }
}
