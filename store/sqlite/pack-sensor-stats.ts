/** Hours and days of sensors as one buffer: a row per field that has values, as in their tables. */
import type { SensorId } from '../../core/air/sensor-id.ts'
import { type Cells, nameTable, orNull } from '../packed-readings.ts'
import type { BucketSummary } from '../stat-collector.ts'
import { noValues, sensorStats, statFields, stepsPerUnit } from '../stat-fields.ts'
import type { FieldStats, SensorStats, StatField } from '../store.ts'
import { fieldNumber, noField, sensorColumns } from './schema.ts'

/** Rows of `sensorColumns`; `s` is an index into `sensors`. */
export type PackedSensorStats = { readonly sensors: readonly SensorId[]; readonly cells: Cells }
export const sensorWidth = sensorColumns.length
const firstStat = sensorColumns.indexOf('n')

export function packSensorStats(rows: readonly SensorStats[]): PackedSensorStats {
  const sensors = nameTable<SensorId>()
  const cells: number[] = []
  for (const { sensor, startMs, readings, failed, fields } of rows) {
    const head = [sensors.indexOf(sensor), startMs, readings, failed ?? Number.NaN] as const
    pushFields(cells, head, (field) => fields[field])
  }
  return { sensors: sensors.names, cells: new Float64Array(cells) }
}

/** @param cells receives the rows of one sensor @param s its index */
export function pushSummaries(
  cells: number[],
  s: number,
  summaries: readonly BucketSummary[],
): void {
  for (const { startMs, readings, leftOut, fields } of summaries)
    pushFields(
      cells,
      [s, startMs, readings, leftOut],
      (field) => fields[statFields.indexOf(field)] ?? noValues,
    )
}

type Head = readonly [s: number, startMs: number, readings: number, failed: number]

function pushFields(cells: number[], head: Head, statsOf: (field: StatField) => FieldStats): void {
  const before = cells.length
  for (const field of statFields) pushField(cells, head, field, statsOf(field))
  if (cells.length > before) return
  // all of its readings failed: that is known nowhere else
  const [s, t, readings, failed] = head
  cells.push(s, t, noField, readings, failed, 0, 0, Number.NaN, 0, 0, 0, Number.NaN, 0, 0, 0)
}

function pushField(
  cells: number[],
  [s, t, readings, failed]: Head,
  field: StatField,
  stats: FieldStats,
): void {
  const { n, mean, sd, p50 } = stats
  if (n === 0 || mean === null) return
  const unit = stepsPerUnit(field)
  const whole = (value: number | null): number => Math.round((value ?? Number.NaN) * unit)
  cells.push(s, t, fieldNumber(field), readings, failed, n, Math.round(mean * n * unit))
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
    bucket.by.set(number, fieldStatsIn(row.slice(firstStat), unit))
  }
  return [...buckets.values()].map(
    ({ row: [s = 0, startMs = 0, , readings = 0, failed = 0], by }) =>
      sensorStats(
        sensors[s]!,
        { startMs, readings, failed: orNull(failed) },
        (field) => by.get(fieldNumber(field)) ?? noValues,
      ),
  )
}
