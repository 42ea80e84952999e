import type { AirIndex } from '../../core/air/index/air-index.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { type Measurements, measurementsOf } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { indexJson, noIndexJson } from './reading-json.ts'
import { type Entry, modifiedMs, newestReading, silenceSeconds } from './sensor-now.ts'
import { asciiJson, sensorJson } from './sensor-text.ts'

/** What a list of sensors has of each, with its latest reading. */
export const latestFields = [
  'id',
  'area',
  'location',
  'status',
  'last_reading',
  'uptime_24h',
  'aqi',
  'aqi_category',
  'dominant_pollutant',
  'beyond_index',
  'quality',
  'quality_level',
  ...quantityNames,
  'modified_at',
  'silence_seconds',
  'distance_m',
] as const

/** Computed only for an answer whose `fields` name them. */
export const namedFields = ['aqi_nowcast', 'aqi_24h'] as const

export type LatestJson = ReturnType<typeof slowJson> &
  ReturnType<typeof quickJson> & { readonly [Name in (typeof namedFields)[number]]?: number | null }

/** A sensor that never sent a reading has nulls in its place. */
export const latestJson = (
  entry: Entry,
  { index, nowMs, distanceM }: { readonly index: AirIndex } & Quick,
): LatestJson => ({ ...slowJson(entry, index, nowMs), ...quickJson(entry, { nowMs, distanceM }) })

/** What only a message, or a step of the clock, changes. */
function slowJson(entry: Entry, index: AirIndex, nowMs: number) {
  const newest = newestReading(entry)
  const measured: Measurements = measurementsOf(newest?.values ?? [])
  return {
    ...sensorJson(entry, index, nowMs, newest),
    ...(newest === undefined ? noIndexJson : indexJson(newest, index)),
    ...measured,
    modified_at: formatIsoMs(modifiedMs(entry)),
  }
}

type Quick = {
  readonly nowMs: number
  /** Given if the request names a place. */
  readonly distanceM: number | undefined
}

const quickJson = (entry: Entry, { nowMs, distanceM }: Quick) => ({
  silence_seconds: silenceSeconds(entry, nowMs),
  ...(distanceM === undefined ? {} : { distance_m: Math.round(distanceM) }),
})

/** The beginning of the JSON: it stays until a message changes it. */
export const latestText = (entry: Entry, index: AirIndex, nowMs: number): string =>
  asciiJson(slowJson(entry, index, nowMs)).slice(0, -1)

/** The rest of it. */
export const latestEnd = (entry: Entry, quick: Quick): string =>
  `,${JSON.stringify(quickJson(entry, quick)).slice(1)}`
