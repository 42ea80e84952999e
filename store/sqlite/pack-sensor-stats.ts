/** Hours and days of sensors as one buffer: a row per field that has values, as in their tables. */
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { BucketSummary } from '../stat-collector.ts'
import { noValues, sensorStats, statFields, stepsPerUnit } from '../stat-fields.ts'
import type { FieldStats, SensorStats } from '../store.ts'
import { type Cells, nameTable, orNull } from './pack.ts'
import { fieldNumber, sensorColumns } from './schema.ts'

/** Rows of `sensorColumns`; `s` is an index into `sensors`. */
export type PackedSensorStats = { readonly sensors: readonly SensorId[]; readonly cells: Cells }
export const sensorWidth = sensorColumns.length

export function packSensorStats(rows: readonly SensorStats[]): PackedSensorStats {
  const sensors = nameTable<SensorId>()
  const cells: number[] = []
  for (const { sensor, startMs, readings, fields } of rows) {
    const s = sensors.indexOf(sensor)
    for (const field of statFields) pushField(cells, [s, startMs, readings], field, fields[field])
  }
  return { sensors: sensors.names, cells: new Float64Array(cells) }
}

/** @param cells receives the rows of one sensor @param s its index */
export function pushSummaries(
  cells: number[],
  s: number,
  summaries: readonly BucketSummary[],
): void {
  for (const { startMs, readings, fields } of summaries) {
    for (const [at, field] of statFields.entries())
      pushField(cells, [s, startMs, readings], field, fields[at] ?? noValues)
  }
}

function pushField(
  cells: number[],
  [s, t, readings]: readonly [number, number, number],
  field: (typeof statFields)[number],
  stats: FieldStats,
): void {
  const { n, mean, sd, p50 } = stats
  if (n === 0 || mean === null) return
  const unit = stepsPerUnit(field)
  const whole = (value: number | null): number => Math.round((value ?? Number.NaN) * unit)
  cells.push(s, t, fieldNumber(field), readings, n, Math.round(mean * n * unit))
  cells.push(sd === null ? Number.NaN : sd * unit, whole(stats.min), whole(stats.q02))
  // a half at most
  cells.push(whole(stats.q25), Math.round((p50 ?? Number.NaN) * 2 * unit) / 2, whole(stats.q75))
  cells.push(whole(stats.p98), whole(stats.max))
}

/** The statistics of a row of `sensorColumns`, from `n` on, in the unit of the field. */
export function fieldStatsIn(row: readonly number[], unit: number): FieldStats {
  const [n = 0, sum = 0, sd = 0, min = 0, q02 = 0, q25 = 0, p50 = 0, q75 = 0, p98 = 0, max = 0] =
    row
  const known = orNull(sd)
  return {
    n,
    mean: sum / n / unit,
    min: min / unit,
    max: max / unit,
    p50: p50 / unit,
    p98: p98 / unit,
    sd: known === null ? null : known / unit,
    q02: q02 / unit,
    q25: q25 / unit,
    q75: q75 / unit,
  }
}

export function unpackSensorStats({ sensors, cells }: PackedSensorStats): SensorStats[] {
  const buckets = new Map<string, { row: readonly number[]; by: Map<number, FieldStats> }>()
  for (let i = 0; i < cells.length; i += sensorWidth) {
    const row = [...cells.subarray(i, i + sensorWidth)]
    const [s = 0, t = 0, number = 0] = row
    const key = `${s} ${t}`
    const bucket = buckets.get(key) ?? { row, by: new Map<number, FieldStats>() }
    buckets.set(key, bucket)
    const unit = number === fieldNumber('aqi') ? 1 : stepsPerUnit('pm25')
    bucket.by.set(number, fieldStatsIn(row.slice(4), unit))
  }
  return [...buckets.values()].map(({ row: [s = 0, t = 0, , readings = 0], by }) =>
    sensorStats(sensors[s]!, t, readings, (field) => by.get(fieldNumber(field)) ?? noValues),
  )
}
