/** Statistics of readings by definition: all values of a field sorted, summed and counted. */
import type { ExpectedReading } from './expected-city.ts'
import { indexOf, type Quantity, quantities } from './plain-values.ts'

export type Field = Quantity | 'aqi'
export const fields: readonly Field[] = [...quantities, 'aqi']

/** In hundredths, the index in ones; undefined where no reading has the field. */
export type Summary = {
  readonly mean: number
  readonly min: number
  readonly max: number
  readonly median: number
  readonly p98: number
}

export type AreaSummary = {
  readonly readings: number
  readonly fields: Readonly<Record<Field, Summary | undefined>>
}

const valueOf = (reading: ExpectedReading, field: Field): number | null =>
  field === 'aqi' ? reading.aqi : reading.values[field]

const valuesOf = (readings: readonly ExpectedReading[], field: Field): number[] =>
  readings.map((reading) => valueOf(reading, field)).filter((value) => value !== null)

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** The middle value, or halfway between the two middle ones. */
function medianOf(sorted: readonly number[]): number {
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (low + high) / 2
}

/** Nearest rank: the ⌊n · 98 / 100 + ½⌋th, counted from 1. */
const p98Of = (sorted: readonly number[]): number =>
  sorted[Math.max(1, Math.floor((sorted.length * 98 + 50) / 100)) - 1] ?? 0

const everyField = (
  make: (field: Field) => Summary | undefined,
): Readonly<Record<Field, Summary | undefined>> =>
  // each field is made its own
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(fields.map((field) => [field, make(field)])) as Record<
    Field,
    Summary | undefined
  >

/** @param ranked what median and p98 are of, where that is not the readings themselves */
function summary(values: readonly number[], ranked: readonly number[]): Summary | undefined {
  if (values.length === 0) return undefined
  const sorted = ranked.toSorted((a, b) => a - b)
  return {
    mean: meanOf(values),
    min: values.reduce((least, value) => Math.min(least, value)),
    max: values.reduce((most, value) => Math.max(most, value)),
    median: medianOf(sorted),
    p98: p98Of(sorted),
  }
}

export const ofReadings = (readings: readonly ExpectedReading[]): AreaSummary => ({
  readings: readings.length,
  fields: everyField((field) => {
    const values = valuesOf(readings, field)
    return summary(values, values)
  }),
})

/** Mean, minimum and maximum of the readings; median and p98 of the means of their hours. */
export function ofHourlyMeans(readings: readonly ExpectedReading[]): AreaSummary {
  const hours = [...inSteps(readings, 3_600_000).values()]
  return {
    readings: readings.length,
    fields: everyField((field) => {
      const means = hours
        .map((hour) => valuesOf(hour, field))
        .filter(({ length }) => length > 0)
        .map(meanOf)
      return summary(valuesOf(readings, field), means)
    }),
  }
}

/** Those of each step of UTC that holds some, by the step's start. @param readings oldest first */
export const inSteps = (
  readings: readonly ExpectedReading[],
  stepMs: number,
): Map<number, ExpectedReading[]> =>
  Map.groupBy(readings, ({ timeMs }) => timeMs - (timeMs % stepMs))

/** Of the mean concentrations, the one whose index is larger. */
export function dominantOf({ fields: { pm25, pm10 } }: AreaSummary): string | null {
  if (pm25 === undefined) return pm10 === undefined ? null : 'pm10'
  if (pm10 === undefined) return 'pm25'
  // a billionth of a µg/m³, so that 9.1 does not become 9.0
  const [fine, coarse] = [pm25.mean + 1e-7, pm10.mean + 1e-7]
  return indexOf('pm10', coarse).aqi > indexOf('pm25', fine).aqi ? 'pm10' : 'pm25'
}
