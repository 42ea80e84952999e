/**
 * What an accepted reading changes in the state: at once for one newer than its sensor's newest
 * (`hear`), by the late lane for any other (`hearLate`).
 */

import { humidityOf, mostValues } from '../air/values.ts'
import { armedFrom } from './crossing.ts'
import { addToHour } from './hour-sums.ts'
import type { ArrivedReading } from './log-message.ts'
import { areaPlaceOf, type PartitionState } from './partition-state.ts'
import { isFresh, offline, offlineSinceMsOf, online, unheard } from './presence.ts'
import { noAqi, noValue, numberAt, numbersOf, setTime, timeAt } from './state-columns.ts'
import { markUptime } from './uptime.ts'

/** What came of hearing a reading; one object is filled again and again. */
export type Heard = {
  /** An alert with threshold t fires where from ≤ t < to. */
  rise: boolean
  from: number
  to: number
  previousAqi: number | null
  cameOnline: boolean
  /** null: never heard before. Only where `cameOnline`. */
  offlineSinceMs: number | null
}

export const createHeard = (): Heard => ({
  rise: false,
  from: 0,
  to: 0,
  previousAqi: null,
  cameOnline: false,
  offlineSinceMs: null,
})

const longestRun = 255

/**
 * How many readings in a row would have this humidity, this one included (at most 255); 0 where it
 * has none. Readings without humidity neither lengthen nor break a run: many sensors send it on a
 * timestamp of its own.
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
 * the reading is committed with (`listenAt`). Fills `heard`.
 */
export function hear(
  state: PartitionState,
  slot: number,
  reading: Omit<ArrivedReading, 'seq'>,
  seq: number,
  heard: Heard,
): void {
  heard.rise = false
  heard.cameOnline = false
  heard.offlineSinceMs = null
  markUptime(state, slot, reading.timeMs)
  addToHour(state, slot, reading)
  keepNewest(state, slot, reading, seq)
  if (!isFresh(reading.timeMs, reading.arrivedMs)) return
  if (reading.aqi !== null) cross(state, slot, reading.aqi, heard)
  comeOnline(state, slot, reading.arrivedMs, heard)
}

/** Folds an accepted reading that is not newer than its sensor's newest: it repairs statistics. */
export function hearLate(
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

/** Folds an index into the crossings of every threshold at once (`crossing.ts`). */
function cross(state: PartitionState, slot: number, aqi: number, heard: Heard): void {
  const { numbers } = state
  const row = numbersOf(slot)
  const kept = numbers[row + numberAt.previousAqi] ?? noAqi
  const previousAqi = kept === noAqi ? null : kept
  const from = armedFrom(numbers[row + numberAt.firedBelow] ?? 0, previousAqi, aqi)
  heard.rise = from < aqi
  heard.from = from
  heard.to = aqi
  heard.previousAqi = previousAqi
  numbers[row + numberAt.previousAqi] = aqi
  numbers[row + numberAt.firedBelow] = Math.max(from, aqi)
}

/** Whether the sensor's next rise above this threshold fires, whatever comes below it meanwhile. */
export const isArmedAt = (state: PartitionState, slot: number, threshold: number): boolean =>
  (state.numbers[numbersOf(slot) + numberAt.firedBelow] ?? 0) <= Math.floor(threshold)

function comeOnline(state: PartitionState, slot: number, arrivedMs: number, heard: Heard): void {
  const status = state.status[slot]
  if (status !== online) {
    heard.cameOnline = status === unheard || status === offline
    heard.offlineSinceMs = offlineSinceMsOf(state, slot)
    state.status[slot] = online
    setTime(state, slot, timeAt.offlineSinceMs, Number.NaN)
    setTime(state, slot, timeAt.heldAt, Number.NaN)
  }
  setTime(state, slot, timeAt.heardAt, state.listenedMs)
  setTime(state, slot, timeAt.heardArrivedMs, arrivedMs)
}
