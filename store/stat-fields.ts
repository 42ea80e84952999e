import { mapQuantities, quantityNames } from '../core/air/quantities.ts'
import type { AreaStats, CorrectedColumn, FieldStats, SensorStats, StatField } from './store.ts'

/**
 * How hours and days are made of readings. The statistics job makes those of other rules again.
 * 1: failed readings are left out, and counted
 */
export const statRules = 1

/** The fields that statistics are made of, in the order of every column list and buffer. */
export const statFields: readonly StatField[] = [...quantityNames, 'aqi']

export type StatColumn = StatField | CorrectedColumn

/** What a value is divided by to be in its unit: measurements are stored in hundredths. */
export const stepsPerUnit = (column: StatColumn): number => (column === 'aqi' ? 1 : 100)

/** The statistics of one field, in the order of every column list and buffer. */
export const statNames = [
  'n',
  'mean',
  'min',
  'max',
  'p50',
  'p98',
  'sd',
  'q02',
  'q25',
  'q75',
] as const

export const noValues: FieldStats = {
  n: 0,
  mean: null,
  min: null,
  max: null,
  p50: null,
  p98: null,
  sd: null,
  q02: null,
  q25: null,
  q75: null,
}

/**
 * InfluxDB cannot take a field back, so a deviation may be there that was of more values.
 * @param valueAt the value of a statistic, by its place in `statNames`
 */
export function statsOf(valueAt: (place: number) => number | null): FieldStats {
  const stats: Record<string, number | null> = {}
  for (let place = 0; place < statNames.length; place++) stats[statNames[place]!] = valueAt(place)
  if ((stats['n'] ?? 0) < 2) stats['sd'] = null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of its names is given
  return stats as FieldStats
}

type Head = Pick<AreaStats, 'startMs' | 'readings' | 'failed'>

/** @param fieldStats of the field that it is given, in the unit of the field */
export const areaStats = (
  area: string,
  { startMs, readings, failed }: Head,
  fieldStats: (field: StatField) => FieldStats,
): AreaStats => ({ area, startMs, readings, failed, fields: everyField(fieldStats) })

export const sensorStats = (
  sensor: SensorStats['sensor'],
  { startMs, readings, failed }: Head,
  fieldStats: (field: StatField) => FieldStats,
): SensorStats => ({ sensor, startMs, readings, failed, fields: everyField(fieldStats) })

const everyField = (fieldStats: (field: StatField) => FieldStats): AreaStats['fields'] => ({
  ...mapQuantities(({ name }) => fieldStats(name)),
  aqi: fieldStats('aqi'),
})
