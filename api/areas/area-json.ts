import { fromHundredths } from '../../core/air/hundredths.ts'
import type { AirIndex, Pollutant } from '../../core/air/index/air-index.ts'
import { storedIndex } from '../../core/air/index/indices.ts'
import { quantities } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { AreaStats, FieldStats } from '../../store/store.ts'

/**
 * Rounds halves up. The mean of decimals may be an ulp below a half as a double, depending on the
 * order of summation: adding a millionth of the last place makes every order agree.
 */
const halfUp = (value: number): number => Math.floor(value + 0.5 + 1e-6)
/** Two decimals, as the values themselves have. */
export const rounded = (value: number | null): number | null =>
  value === null ? null : fromHundredths(halfUp(value * 100))
/** One decimal, for means of indices. */
export const tenths = (value: number | null): number | null =>
  value === null ? null : halfUp(value * 10) / 10

type MeasurementJson = {
  readonly avg: number | null
  readonly min: number | null
  readonly max: number | null
  readonly median: number | null
  readonly p98: number | null
  readonly unit: string
}

const measurementJson = (stats: FieldStats | undefined, unit: string): MeasurementJson => ({
  avg: rounded(stats?.mean ?? null),
  min: rounded(stats?.min ?? null),
  max: rounded(stats?.max ?? null),
  median: rounded(stats?.p50 ?? null),
  p98: rounded(stats?.p98 ?? null),
  unit,
})

/** The basic five, with null if not measured; of the others only those that were measured. */
export const measurementsJson = (
  stats: AreaStats | undefined,
): Readonly<Record<string, MeasurementJson>> =>
  Object.fromEntries(
    quantities
      .filter(({ name }, id) => id < fewestValues || (stats?.fields[name].n ?? 0) > 0)
      .map(({ name, unit }) => [name, measurementJson(stats?.fields[name], unit)]),
  )

export type AqiJson = {
  readonly average: number | null
  readonly median: number | null
  readonly min: number | null
  readonly max: number | null
  /** The category of the average. */
  readonly category: string | null
  /** The pollutant whose mean concentration has the larger index. */
  readonly dominant_pollutant: Pollutant | null
}

type Statistic = 'mean' | 'p50' | 'min' | 'max'

/**
 * Of the stored index, the statistics of the readings' indices; of another one, the index of the
 * concentrations' statistics: for a period that may be years, nothing else is stored.
 */
export function aqiJson(stats: AreaStats | undefined, index: AirIndex): AqiJson {
  const worst = (statistic: Statistic) =>
    stats && index.worstOf((pollutant) => stats.fields[pollutant][statistic])
  const indexOf = (statistic: Statistic): number | null =>
    index === storedIndex
      ? (stats?.fields.aqi[statistic] ?? null)
      : (worst(statistic)?.value ?? null)
  const average = tenths(indexOf('mean'))
  return {
    average,
    median: tenths(indexOf('p50')),
    min: indexOf('min'),
    max: indexOf('max'),
    category: average === null ? null : index.categoryOf(average),
    dominant_pollutant: worst('mean')?.pollutant ?? null,
  }
}

export const bucketJson = (stats: AreaStats, index: AirIndex) => ({
  start_time: formatIsoMs(stats.startMs),
  readings: stats.readings,
  left_out: stats.failed,
  aqi: aqiJson(stats, index),
  measurements: measurementsJson(stats),
})
