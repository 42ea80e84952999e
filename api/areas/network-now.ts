/** What the sensors of an area say now, from memory. */
import { indexOfConcentration } from '../../core/air/aqi.ts'
import { dailyHours, dailyMean, nowcast, nowcastHours } from '../../core/air/nowcast.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { hourMeans } from '../../core/state/hour-sums.ts'
import { hourMs } from '../../core/time.ts'
import type { Entry } from '../live/sensor-now.ts'
import { isOnline, newestMs, newestReading } from '../live/sensor-now.ts'
import type { Period } from './cut-period.ts'

export type AreaNow = {
  readonly sensors: { readonly total: number; readonly online: number; readonly offline: number }
  readonly last_updated: string | null
}

export function areaNow(entries: readonly Entry[]): AreaNow {
  let online = 0
  let latestMs = -Infinity
  for (const entry of entries) {
    if (isOnline(entry)) online++
    latestMs = Math.max(latestMs, newestMs(entry))
  }
  return {
    sensors: { total: entries.length, online, offline: entries.length - online },
    last_updated: latestMs === -Infinity ? null : formatIsoMs(latestMs),
  }
}

export type WorstSensor = {
  readonly sensor_id: string
  readonly aqi: number
  readonly timestamp: string
}

/** Of the newest readings that lie in the period, the worst. */
export function worstSensor(
  entries: readonly Entry[],
  { fromMs, toMs }: Period,
): WorstSensor | null {
  let worst: WorstSensor | null = null
  for (const entry of entries) {
    const timeMs = newestMs(entry)
    if (timeMs < fromMs || timeMs >= toMs) continue
    const aqi = newestReading(entry)?.aqi ?? null
    if (aqi === null || (worst !== null && aqi <= worst.aqi)) continue
    worst = { sensor_id: entry.sensor.id, aqi, timestamp: formatIsoMs(timeMs) }
  }
  return worst
}

type Pollutant = 'pm25' | 'pm10'
type Hours = readonly (number | null)[]

const sensorHours = (
  { state, slot, sensor }: Entry,
  pollutant: Pollutant,
  nowMs: number,
  hours: number,
): Hours =>
  slot === -1 ? [] : hourMeans(state, slot, pollutant, nowMs, hours, hourMs / sensor.cadenceMs)

/** The larger index of the two means; null where there is neither. */
function largerIndex(pm25: number | null, pm10: number | null): number | null {
  const indices = [
    ...(pm25 === null ? [] : [indexOfConcentration('pm25', pm25)]),
    ...(pm10 === null ? [] : [indexOfConcentration('pm10', pm10)]),
  ]
  return indices.length === 0 ? null : Math.max(...indices)
}

/** The index of a sensor's NowCast, null where it is not valid. */
export const nowcastOf = (entry: Entry, nowMs: number): number | null =>
  largerIndex(
    nowcast(sensorHours(entry, 'pm25', nowMs, nowcastHours)),
    nowcast(sensorHours(entry, 'pm10', nowMs, nowcastHours)),
  )

/** The index of a sensor's 24-hour means, null where it is not valid. */
export const dailyIndexOf = (entry: Entry, nowMs: number): number | null =>
  largerIndex(
    dailyMean(sensorHours(entry, 'pm25', nowMs, dailyHours)),
    dailyMean(sensorHours(entry, 'pm10', nowMs, dailyHours)),
  )

/**
 * The index of an area's NowCast: an hour of the area is the mean of those sensors that have
 * enough readings in it, each counted alike.
 */
export function areaNowcast(entries: readonly Entry[], nowMs: number): number | null {
  const means = (pollutant: Pollutant): Hours => {
    const all = entries.map((entry) => sensorHours(entry, pollutant, nowMs, nowcastHours))
    return Array.from({ length: nowcastHours }, (_, age) => {
      const present = all.map((hours) => hours[age] ?? null).filter((mean) => mean !== null)
      if (present.length === 0) return null
      return present.reduce((sum, mean) => sum + mean, 0) / present.length
    })
  }
  return largerIndex(nowcast(means('pm25')), nowcast(means('pm10')))
}
