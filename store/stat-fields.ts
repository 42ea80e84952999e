import { mapQuantities, quantityNames } from '../core/air/quantities.ts'
import type { AreaStats, FieldStats, StatField } from './store.ts'

/** The fields that statistics are made of, in the order of every column list and buffer. */
export const statFields: readonly StatField[] = [...quantityNames, 'aqi']

/** What a value is divided by to be in its unit: measurements are stored in hundredths. */
export const stepsPerUnit = (field: StatField): number => (field === 'aqi' ? 1 : 100)

/** The statistics of one field, in the order of every column list and buffer. */
export const statNames = ['n', 'mean', 'min', 'max', 'p50', 'p98'] as const

export const noValues: FieldStats = {
  n: 0,
  mean: null,
  min: null,
  max: null,
  p50: null,
  p98: null,
}

/** @param fieldStats of the field that it is given, in the unit of the field */
export const areaStats = (
  area: string,
  startMs: number,
  readings: number,
  fieldStats: (field: StatField) => FieldStats,
): AreaStats => ({
  area,
  startMs,
  readings,
  fields: {
    ...mapQuantities(({ name }) => fieldStats(name)),
    aqi: fieldStats('aqi'),
  },
})
