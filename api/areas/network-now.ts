/** What the sensors of an area report now, from memory. */
import type { AirIndex, HourMeans, Pollutant } from '../../core/air/index/air-index.ts'
import { dailyHours, dailyMean } from '../../core/air/nowcast.ts'
import { isFail } from '../../core/air/quality-level.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { eachHourMean, failsIn, hourMeans } from '../../core/state/hour-sums.ts'
import { hourMs } from '../../core/time.ts'
import type { Area } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { type Counts, noSensors, sumOf } from '../live/sensor-counts.ts'
import type { Entry } from '../live/sensor-now.ts'
import { newestIndex, newestMs, newestReading } from '../live/sensor-now.ts'
import type { Period } from './cut-period.ts'

type Board = Pick<SensorBoard, 'counts'>

export type AreaNow = {
  readonly sensors: { readonly total: number; readonly online: number; readonly offline: number }
  readonly presence: { readonly reporting: number; readonly never_reported: number }
  readonly last_updated: string | null
}

const nowOf = ({ total, online, reporting, everSent, newestMs: latestMs }: Counts): AreaNow => ({
  sensors: { total, online, offline: total - online },
  presence: { reporting, never_reported: total - everSent },
  last_updated: latestMs === -Infinity ? null : formatIsoMs(latestMs),
})

export function areaNow(board: Board, { name, isNetwork }: Area, nowMs: number): AreaNow {
  const counts = board.counts()
  return nowOf(isNetwork ? sumOf(counts.all(nowMs).values()) : counts.of(name, nowMs))
}

/** Of the network, and of each of its areas by name. */
export function areasNow(
  board: Board,
  names: readonly string[],
  nowMs: number,
): { readonly network: AreaNow; readonly areas: ReadonlyMap<string, AreaNow> } {
  const counts = board.counts().all(nowMs)
  return {
    network: nowOf(sumOf(counts.values())),
    areas: new Map(names.map((name) => [name, nowOf(counts.get(name) ?? noSensors)])),
  }
}

export type WorstSensor = {
  readonly sensor_id: string
  readonly aqi: number
  readonly timestamp: string
}

/** The worst of the newest readings in the period that have not failed; of equal ones the first. */
export function worstSensor(
  entries: readonly Entry[],
  { fromMs, toMs }: Period,
  index: AirIndex,
): WorstSensor | null {
  let worst: WorstSensor | null = null
  for (const entry of entries) {
    const timeMs = newestMs(entry)
    if (timeMs < fromMs || timeMs >= toMs) continue
    if (isFail(newestReading(entry)?.flags ?? 0)) continue
    const aqi = newestIndex(entry, index)
    if (aqi === null || (worst !== null && aqi <= worst.aqi)) continue
    worst = { sensor_id: entry.id, aqi, timestamp: formatIsoMs(timeMs) }
  }
  return worst
}

const sensorHours = (
  { state, slot, cadenceMs }: Entry,
  pollutant: Pollutant,
  nowMs: number,
  hours: number,
): HourMeans =>
  slot === -1 ? [] : hourMeans(state, slot, pollutant, nowMs, hours, hourMs / cadenceMs)

/** How many readings of the last 24 clock hours have failed, and are in no mean of an hour. */
export const leftOut = ({ state, slot }: Entry, nowMs: number): number =>
  slot === -1 ? 0 : failsIn(state, slot, nowMs, dailyHours)

/** The index of what a sensor measures now, null if too few hours are known. */
export const indexNow = (entry: Entry, index: AirIndex, nowMs: number): number | null =>
  index.worstOf((pollutant) => index.nowOf(sensorHours(entry, pollutant, nowMs, dailyHours)))
    ?.value ?? null

/** The index of a sensor's 24-hour means, null if they are not valid. */
export const indexOfDay = (entry: Entry, index: AirIndex, nowMs: number): number | null =>
  index.worstOf((pollutant) => dailyMean(sensorHours(entry, pollutant, nowMs, dailyHours)))
    ?.value ?? null

/**
 * The index of an area now: an hour of the area is the mean of the sensors that have enough
 * readings in it, each with the same weight.
 */
export function areaIndexNow(
  entries: readonly Entry[],
  index: AirIndex,
  nowMs: number,
): number | null {
  const means = (pollutant: Pollutant): HourMeans => {
    const sums = new Float64Array(dailyHours)
    const counts = new Uint32Array(dailyHours)
    const add = (mean: number, age: number): void => {
      sums[age]! += mean
      counts[age]! += 1
    }
    for (const { state, slot, cadenceMs } of entries)
      if (slot !== -1)
        eachHourMean(
          state,
          { slot, pollutant, nowMs, hours: dailyHours, expectedPerHour: hourMs / cadenceMs },
          add,
        )
    return Array.from(counts, (count, age) => (count === 0 ? null : sums[age]! / count))
  }
  return index.worstOf((pollutant) => index.nowOf(means(pollutant)))?.value ?? null
}
