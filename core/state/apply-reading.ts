/**
 * What an accepted reading changes in the state: at once if it is newer than its sensor's newest
 * (`applyNewer`), by the late lane otherwise (`applyLate`).
 */

import { isFail } from '../air/quality-level.ts'
import { humidityOf, mostValues } from '../air/values.ts'
import { armedFrom } from './crossing.ts'
import { addToHour } from './hour-sums.ts'
import type { ArrivedReading } from './log-message.ts'
import { areaPlaceOf, type PartitionState } from './partition-state.ts'
import { keepHistory } from './pm-checks.ts'
import { isFresh, offline, offlineSinceMsOf, online, unheard } from './presence.ts'
import { foldLevel } from './sensor-level.ts'
import {
  checkAt,
  checksOf,
  noAqi,
  noValue,
  numberAt,
  numbersOf,
  setTime,
  timeAt,
} from './state-columns.ts'
import { markUptime } from './uptime.ts'

/** The effects of a reading; one object is filled again and again. */
export type Outcome = {
  /** An alert with threshold t fires where from ≤ t < to. */
  rise: boolean
  from: number
  to: number
  previousAqi: number | null
  cameOnline: boolean
  /** null: never heard before. Set only with `cameOnline`. */
  offlineSinceMs: number | null
  /** The sensor's level before and now: places in `qualityLevels`. */
  levelWas: number
  level: number
}

export const createOutcome = (): Outcome => ({
  rise: false,
  from: 0,
  to: 0,
  previousAqi: null,
  cameOnline: false,
  offlineSinceMs: null,
  levelWas: 0,
  level: 0,
})

const longestRun = 255

/**
 * How many readings in a row would have this humidity, this one included (at most 255); 0 if it
 * has none. Readings without humidity neither lengthen nor break a run: many sensors send it with a
 * separate timestamp.
 */
export function humidityRun(state: PartitionState, slot: number, humidity: number | null): number {
  if (humidity === null) return 0
  const { numbers } = state
  const row = numbersOf(slot)
  if (humidity !== numbers[row + numberAt.humidity]) return 1
  return Math.min(longestRun, (numbers[row + numberAt.humidityRun] ?? 0) + 1)
}

/**
 * Folds a reading newer than its sensor's newest. `state.listenedMs` must be that of the message
 * the reading is committed with (`listenAt`). Fills `outcome`.
 */
export function applyNewer(
  state: PartitionState,
  slot: number,
  reading: Omit<ArrivedReading, 'seq'>,
  seq: number,
  outcome: Outcome,
): void {
  outcome.rise = false
  outcome.cameOnline = false
  outcome.offlineSinceMs = null
  outcome.level = outcome.levelWas = 0
  markUptime(state, slot, reading.timeMs)
  addToHour(state, slot, reading)
  const hasRules = state.rules !== 0
  if (hasRules) keepHistory(state, slot, reading)
  keepNewest(state, slot, reading, seq)
  if (!isFresh(reading.timeMs, reading.arrivedMs)) return
  const counts = reading.aqi !== null && !(hasRules && isFail(reading.flags))
  if (counts) cross(state, slot, reading.aqi, outcome)
  if (hasRules) {
    outcome.levelWas = state.checks[checksOf(slot) + checkAt.level] ?? 0
    outcome.level = foldLevel(state, slot, reading.timeMs, reading.flags)
  }
  comeOnline(state, slot, reading.arrivedMs, outcome)
}

/** Folds an accepted reading that is not newer than its sensor's newest: it repairs statistics. */
export function applyLate(
  state: PartitionState,
  slot: number,
  reading: Omit<ArrivedReading, 'seq'>,
): void {
  markUptime(state, slot, reading.timeMs)
  addToHour(state, slot, reading)
}

function keepNewest(
  state: PartitionState,
  slot: number,
  reading: Omit<ArrivedReading, 'seq'>,
  seq: number,
): void {
  const { numbers } = state
  const row = numbersOf(slot)
  const { values } = reading
  const humidity = humidityOf(values)
  if (humidity !== null) {
    numbers[row + numberAt.humidityRun] = humidityRun(state, slot, humidity)
    numbers[row + numberAt.humidity] = humidity
  }
  const at = row + numberAt.values
  const { length } = values
  for (let id = 0; id < length; id++) numbers[at + id] = values[id] ?? noValue
  for (let id = length; id < mostValues; id++) numbers[at + id] = noValue
  numbers[row + numberAt.flags] = reading.flags
  numbers[row + numberAt.area] = areaPlaceOf(state, reading.area)
  numbers[row + numberAt.aqi] = reading.aqi ?? noAqi
  setTime(state, slot, timeAt.newestMs, reading.timeMs)
  setTime(state, slot, timeAt.newestArrivedMs, reading.arrivedMs)
  setTime(state, slot, timeAt.newestSeq, seq)
}

/** Folds an index into the crossings of every threshold at once (`crossing.ts`); none that has failed. */
function cross(state: PartitionState, slot: number, aqi: number, outcome: Outcome): void {
  const { numbers } = state
  const row = numbersOf(slot)
  const stored = numbers[row + numberAt.previousAqi] ?? noAqi
  const previousAqi = stored === noAqi ? null : stored
  const from = armedFrom(numbers[row + numberAt.firedBelow] ?? 0, previousAqi, aqi)
  outcome.rise = from < aqi
  outcome.from = from
  outcome.to = aqi
  outcome.previousAqi = previousAqi
  numbers[row + numberAt.previousAqi] = aqi
  numbers[row + numberAt.firedBelow] = Math.max(from, aqi)
}

/** Whether the sensor's next rise above this threshold fires, whatever happens below it meanwhile. */
export const isArmedAt = (state: PartitionState, slot: number, threshold: number): boolean =>
  (state.numbers[numbersOf(slot) + numberAt.firedBelow] ?? 0) <= Math.floor(threshold)

function comeOnline(
  state: PartitionState,
  slot: number,
  arrivedMs: number,
  outcome: Outcome,
): void {
  const status = state.status[slot]
  if (status !== online) {
    outcome.cameOnline = status === unheard || status === offline
    outcome.offlineSinceMs = offlineSinceMsOf(state, slot)
    state.status[slot] = online
    setTime(state, slot, timeAt.offlineSinceMs, Number.NaN)
    setTime(state, slot, timeAt.heldAt, Number.NaN)
  }
  setTime(state, slot, timeAt.heardAt, state.listenedMs)
  setTime(state, slot, timeAt.heardArrivedMs, arrivedMs)
}
