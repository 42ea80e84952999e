/**
 * An index of air quality: a table of bands, and what follows from it. Each index is one
 * object, made from its table by `tableIndex`; `indices.ts` lists them.
 */

import type { Reading } from '../reading.ts'
import { valueOf as hundredthsOf } from '../values.ts'

/** The quantities of an index: these have sums for every hour (`core/state/hour-sums.ts`). */
export const pollutants = ['pm25', 'pm10'] as const
export type Pollutant = (typeof pollutants)[number]

/** Both ends belong to the range. */
export type Ends = { readonly low: number; readonly high: number }
export const ends = (low: number, high: number): Ends => ({ low, high })

/** The next band begins one step above; the last one may have no end (Infinity). */
export type Band<Category extends string = string> = {
  readonly category: Category
  /** Values of the index; a single level if both are the same. */
  readonly aqi: Ends
  /** Colour of the institution that publishes the index, and one for colour-blind people. */
  readonly color: string
  readonly colorVision: string
} & {
  /** In steps, `stepsPerUnit` per µg/m³. */
  readonly [P in Pollutant]: Ends
}

/** The part of a reading that an index needs; `aqi` is the one that was stored with it. */
export type Indexed = Pick<Reading, 'values' | 'aqi'>

/** Means of clock hours in µg/m³, the running hour first; null for an hour with too few readings. */
export type HourMeans = readonly (number | null)[]

/** The definition of an index; everything else follows from it. */
export type IndexTable<Category extends string = string> = {
  /** Its name in `?index=`: short, lower case, never changed. */
  readonly name: string
  readonly title: string
  /** The day of the table's revision. */
  readonly revision: string
  /** From the best air to the worst. */
  readonly bands: readonly Band<Category>[]
  /** A concentration is truncated to a step. Divides 100, as readings are whole hundredths. */
  readonly stepsPerUnit: { readonly [P in Pollutant]: number }
  /** It is rounded to the nearest step instead, halves up. */
  readonly isRounded?: boolean
  /** The index is defined for means over this many hours; of a single reading it is a rough indication. */
  readonly averagingHours: number
  /** The concentration that counts as the present one, in µg/m³. */
  readonly nowOf: (hours: HourMeans) => number | null
}

export type AirIndex<Category extends string = string> = IndexTable<Category> & {
  /** Those it is made of; if two have the same value, the first one counts. */
  readonly pollutants: readonly Pollutant[]
  /** The index of a single reading, null if it holds no pollutant of the index. */
  readonly ofReading: (reading: Indexed) => number | null
  /** The pollutant that gives the index of a reading. */
  readonly dominantOf: (reading: Indexed) => Pollutant | null
  /** A concentration is above the table. */
  readonly isBeyond: (reading: Indexed) => boolean
  /** The index of one pollutant. @param ugM3 computed (a mean), finite; below 0 counts as 0 */
  readonly ofConcentration: (pollutant: Pollutant, ugM3: number) => number
  /** The larger index of computed concentrations in µg/m³, undefined if all are null. */
  readonly worstOf: (ugM3Of: (pollutant: Pollutant) => number | null) => Worst | undefined
  /** @param value at least the lowest; between two bands (a mean of indices) it is the lower one's */
  readonly categoryOf: (value: number) => Category
}

export type Worst = { readonly value: number; readonly pollutant: Pollutant }

export function tableIndex<const Category extends string>(
  table: IndexTable<Category>,
): AirIndex<Category> {
  const { bands, stepsPerUnit, isRounded = false } = table
  const half = isRounded ? 50 : 0
  const stepOf = (pollutant: Pollutant, hundredths: number): number =>
    hundredths <= 0 ? 0 : Math.floor((hundredths * stepsPerUnit[pollutant] + half) / 100)
  const valueAt = (pollutant: Pollutant, step: number): number => valueOf(bands, pollutant, step)
  const worst = (indexOf: (pollutant: Pollutant) => number | null): Worst | undefined => {
    let largest: Worst | undefined
    for (const pollutant of pollutants) {
      const value = indexOf(pollutant)
      if (value !== null && (largest === undefined || value > largest.value))
        largest = { value, pollutant }
    }
    return largest
  }
  const worstOfReading = (reading: Indexed): Worst | undefined =>
    worst((pollutant) => {
      const hundredths = hundredthsOf(reading.values, pollutant)
      return hundredths === null ? null : valueAt(pollutant, stepOf(pollutant, hundredths))
    })
  const ofConcentration = (pollutant: Pollutant, ugM3: number): number =>
    valueAt(pollutant, stepOf(pollutant, truncate(ugM3, isRounded ? 100 : stepsPerUnit[pollutant])))
  const last = bands.at(-1)
  return {
    ...table,
    pollutants,
    ofReading: (reading) => worstOfReading(reading)?.value ?? null,
    dominantOf: (reading) => worstOfReading(reading)?.pollutant ?? null,
    isBeyond: (reading) =>
      pollutants.some((pollutant) => {
        const hundredths = hundredthsOf(reading.values, pollutant)
        return hundredths !== null && stepOf(pollutant, hundredths) > (last?.[pollutant].high ?? 0)
      }),
    ofConcentration,
    worstOf: (ugM3Of) =>
      worst((pollutant) => {
        const ugM3 = ugM3Of(pollutant)
        return ugM3 === null ? null : ofConcentration(pollutant, ugM3)
      }),
    categoryOf: (value) => categoryIn(bands, value),
  }
}

/**
 * A computed concentration, truncated as an index requires. Sums leave 9.0999999999 for 9.1, so a
 * billionth is added first.
 * @param ugM3 finite  @returns whole hundredths of a µg/m³
 */
export const truncate = (ugM3: number, stepsPerUnit: number): number =>
  ugM3 <= 0 ? 0 : Math.floor((ugM3 + 1e-9) * stepsPerUnit) * (100 / stepsPerUnit)

/**
 * Interpolated within its band and rounded to the nearest integer, in whole numbers; the highest
 * value above the table.
 */
export function valueOf(bands: readonly Band[], pollutant: Pollutant, step: number): number {
  const band = bands.find((candidate) => step <= candidate[pollutant].high) ?? bands.at(-1)
  if (band === undefined) throw new RangeError('a table without bands')
  const { low, high } = band[pollutant]
  const rise = band.aqi.high - band.aqi.low
  if (rise === 0 || step >= high) return band.aqi.high
  return band.aqi.low + Math.floor((2 * rise * (step - low) + high - low) / (2 * (high - low)))
}

export function categoryIn<Category extends string>(
  bands: readonly Band<Category>[],
  value: number,
): Category {
  const band = bands.findLast(({ aqi }) => value >= aqi.low) ?? bands[0]
  if (band === undefined) throw new RangeError('a table without bands')
  return band.category
}
