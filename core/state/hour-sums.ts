/**
 * Clock-hour sums of PM per sensor, by the time of the reading: NowCast and the 24-hour index are
 * computed from them.
 */

import type { Pollutant } from '../air/index/air-index.ts'
import { neededHourCoverage } from '../air/nowcast.ts'
import { isFail } from '../air/quality-level.ts'
import type { Reading } from '../air/reading.ts'
import { pm10Of, pm25Of } from '../air/values.ts'
import { hourMs } from '../time.ts'
import type { PartitionState } from './partition-state.ts'
import { hourRing, newestMsOf } from './state-columns.ts'

/** A sum of this many values of 1000 µg/m³ in hundredths still fits 31 bits; more add nothing. */
const mostPerHour = 20_000

const hourNumber = (timeMs: number): number => Math.floor(timeMs / hourMs)
const placeOf = (slot: number, hour: number): number => 2 * (slot * hourRing + (hour % hourRing))

/** The place of the pm25 of a time's hour in both columns; pm10 is the next one. */
export const hoursPlace = (slot: number, timeMs: number): number =>
  placeOf(slot, hourNumber(timeMs))

/**
 * Adds an accepted reading to its hour; one that has failed is only counted, and one too old for the ring changes nothing. Call it before
 * the reading becomes its sensor's newest: the newest hour is that of `newestMs`.
 */
export function addToHour(
  state: PartitionState,
  slot: number,
  reading: Pick<Reading, 'timeMs' | 'values' | 'flags'>,
): void {
  const { hourSums, hourCounts, hourFails } = state
  const hour = hourNumber(reading.timeMs)
  const newest = hourNumber(newestMsOf(state, slot))
  if (hour <= newest - hourRing) return
  // the ring used these places for hours that are now too old
  for (let passed = Math.max(newest + 1, hour - hourRing + 1); passed <= hour; passed++) {
    const at = placeOf(slot, passed)
    hourSums[at] = hourSums[at + 1] = hourCounts[at] = hourCounts[at + 1] = 0
    hourFails[at >> 1] = 0
  }
  const at = placeOf(slot, hour)
  if (state.rules !== 0 && isFail(reading.flags)) {
    if ((hourFails[at >> 1] ?? 0) < mostPerHour) hourFails[at >> 1]! += 1
    return
  }
  add(state, at, pm25Of(reading.values))
  add(state, at + 1, pm10Of(reading.values))
}

function add({ hourSums, hourCounts }: PartitionState, at: number, value: number | null): void {
  const count = hourCounts[at] ?? 0
  if (value === null || count >= mostPerHour) return
  hourSums[at]! += value
  hourCounts[at] = count + 1
}

/**
 * Means of the newest clock hours (UTC) in µg/m³, the running hour first; null if fewer than
 * 75 % of the expected readings have the pollutant (in the running hour: of those expected so far,
 * at least one).
 * @param hours at most 24  @param expectedPerHour 3600 s over the cadence; may be below 1
 */
export function hourMeans(
  state: PartitionState,
  slot: number,
  pollutant: Pollutant,
  nowMs: number,
  hours: number,
  expectedPerHour: number,
): (number | null)[] {
  const means = Array.from({ length: hours }, (): number | null => null)
  const of = { slot, pollutant, nowMs, hours, expectedPerHour }
  eachHourMean(state, of, (mean, age) => void (means[age] = mean))
  return means
}

type HoursOf = {
  readonly slot: number
  readonly pollutant: Pollutant
  readonly nowMs: number
  readonly hours: number
  readonly expectedPerHour: number
}

/** The same, one by one and only those that are not null: for sums of thousands of sensors. */
export function eachHourMean(
  state: PartitionState,
  { slot, pollutant, nowMs, hours, expectedPerHour }: HoursOf,
  use: (mean: number, age: number) => void,
): void {
  const running = hourNumber(nowMs)
  const newest = hourNumber(newestMsOf(state, slot))
  const first = Math.max(running - hours, newest - hourRing) + 1
  for (let hour = Math.min(running, newest); hour >= first; hour--) {
    const at = placeOf(slot, hour) + (pollutant === 'pm25' ? 0 : 1)
    const count = state.hourCounts[at] ?? 0
    const passed = hour === running ? (nowMs - running * hourMs) / hourMs : 1
    const needed = Math.max(1, neededHourCoverage * expectedPerHour * passed)
    if (count >= needed) use((state.hourSums[at] ?? 0) / count / 100, running - hour)
  }
}

/** How many readings of the newest clock hours have failed, and are not in their means. */
export function failsIn(state: PartitionState, slot: number, nowMs: number, hours: number): number {
  const running = hourNumber(nowMs)
  const newest = hourNumber(newestMsOf(state, slot))
  let fails = 0
  const first = Math.max(running - hours, newest - hourRing) + 1
  for (let hour = first; hour <= Math.min(running, newest); hour++)
    fails += state.hourFails[placeOf(slot, hour) >> 1] ?? 0
  return fails
}
