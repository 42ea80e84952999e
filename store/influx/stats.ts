import type { QualityFilter } from '../../core/air/quality-level.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { usualRows } from '../raw-rows.ts'
import { type BucketSummary, statCollector } from '../stat-collector.ts'
import { areaStats, noValues, statFields, statNames, statsOf } from '../stat-fields.ts'
import type { AreaStats, FieldStats, Store } from '../store.ts'
import { collectRows } from './collect-rows.ts'
import type { RollupMeasurement } from './line-protocol.ts'
import { type InfluxCell, type InfluxQuery, timeParam } from './query.ts'

export type InfluxStats = Pick<Store, 'computeBuckets' | 'computeOverall'>

/**
 * Statistics of raw rows. InfluxDB hands over the values and we rank them: its own `median` and
 * `percentile` of six fields cost it 2.5 times the CPU of this (4.6 s against 1.9 for a day of
 * 1,000 sensors), and the answers equal those of the other engine to the last digit.
 */
export function influxStats(query: InfluxQuery): InfluxStats {
  const collect = async (
    area: string,
    fromMs: number,
    toMs: number,
    bucketOf: (timeMs: number) => number,
    quality?: QualityFilter,
  ): Promise<readonly BucketSummary[]> => {
    const collector = statCollector()
    const into = { collector, rows: usualRows(quality), bucketOf }
    await collectRows(query, { area }, { fromMs, toMs }, into)
    return collector.summaries()
  }

  return {
    computeBuckets: async (area, fromMs, toMs, size, quality) => {
      const sizeMs = size === 'hour' ? hourMs : dayMs
      const rows: AreaStats[] = []
      // a UTC day at a time: memory is bounded by what one day holds
      for (let from = fromMs; from < toMs; ) {
        const to = Math.min(toMs, floorTo(from, dayMs) + dayMs)
        const startOf = (timeMs: number): number => floorTo(timeMs, sizeMs)
        const buckets = await collect(area, from, to, startOf, quality)
        rows.push(...buckets.map((bucket) => statsOfBucket(area, bucket)))
        from = to
      }
      return rows
    },
    computeOverall: async (area, fromMs, toMs) => {
      const [bucket] = fromMs < toMs ? await collect(area, fromMs, toMs, () => fromMs) : []
      return bucket === undefined ? undefined : statsOfBucket(area, bucket)
    },
  }
}

const statsOfBucket = (area: string, { fields, leftOut, ...head }: BucketSummary): AreaStats =>
  areaStats(
    area,
    { ...head, failed: leftOut },
    (field) => fields[statFields.indexOf(field)] ?? noValues,
  )

/** Roll-ups as written, oldest first. */
export async function influxRollups(
  query: InfluxQuery,
  measurement: RollupMeasurement,
  area: string,
  fromMs: number,
  toMs: number,
): Promise<AreaStats[]> {
  if (fromMs >= toMs) return []
  const statement = `SELECT ${rollupColumns} FROM ${measurement}
    WHERE area = $area AND time >= $from AND time < $to`
  const params = { area, from: timeParam(fromMs), to: timeParam(toMs) }
  const [series = []] = await query(statement, params)
  return series.flatMap(({ values }) => values).map((row) => statsOfRow(area, row))
}

const rollupColumns = [
  'readings',
  'failed',
  ...statFields.flatMap((field) => statNames.map((name) => `${field}_${name}`)),
].join(', ')

/** Columns in the order of `rollupColumns`. */
function statsOfRow(area: string, row: readonly InfluxCell[]): AreaStats {
  const numberAt = (column: number): number | null => {
    const cell = row[column]
    return typeof cell === 'number' ? cell : null
  }
  const head = { startMs: numberAt(0) ?? 0, readings: numberAt(1) ?? 0, failed: numberAt(2) }
  return areaStats(area, head, (field): FieldStats => {
    const at = 3 + statFields.indexOf(field) * statNames.length
    const n = numberAt(at) ?? 0
    return n === 0 ? noValues : statsOf((place) => numberAt(at + place))
  })
}
