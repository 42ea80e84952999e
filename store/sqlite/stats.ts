import { wholeNetwork } from '../../core/air/area.ts'
import type { QualityFilter } from '../../core/air/quality-level.ts'
import { dayMs } from '../../core/time.ts'
import { usualRows } from '../raw-rows.ts'
import { statCollector } from '../stat-collector.ts'
import { statFields } from '../stat-fields.ts'
import type { SqliteCalls } from './calls.ts'
import type { Row, SqliteFile } from './file.ts'
import { numberOf } from './pack.ts'
import { type PackedStats, packSummaries, statsWidth } from './pack-stats.ts'
import { type RollupTable, statColumns } from './schema.ts'

export type SqliteStats = Pick<SqliteCalls, 'computeBuckets' | 'computeOverall' | 'rollups'>

/**
 * Statistics from raw rows. The rows never become objects: an aggregate of ours takes their
 * values inside SQLite's loop (0.25 µs a row, where fetching them costs 0.5).
 * @param mustBeWanted throws if the caller of the call under way has given up
 */
export function sqliteStats(db: SqliteFile, mustBeWanted: () => void): SqliteStats {
  let rows = 0
  let take = usualRows()
  db.aggregate(
    'area_stats',
    statCollector,
    (collector, cells) => {
      // a millisecond's worth: an error leaves the statement
      if (++rows % rowsBetweenLooks === 0) mustBeWanted()
      const [bucket, flags] = cells
      take.add(collector, numberOf(bucket), numberOf(flags), (at) => cells[at + 2], undefined)
    },
    (collector) => new Uint8Array(packSummaries(collector.summaries()).buffer),
  )
  const areaNumber = (area: string): number | undefined => {
    const row = db.all('select n from area where name = ?', area)[0]
    return row === undefined ? undefined : numberOf(row[0])
  }

  const compute = (
    bucket: string,
    area: string,
    params: readonly number[],
    quality?: QualityFilter,
  ): Float64Array => {
    take = usualRows(quality)
    if (area === wholeNetwork) return cellsOf(db.all(`select ${bucket} ${ofNetwork}`, ...params))
    const a = areaNumber(area)
    if (a === undefined) return new Float64Array()
    return cellsOf(db.all(`select ${bucket} ${ofArea}`, ...params, a))
  }

  return {
    computeBuckets: (area, fromMs, toMs, sizeMs, quality) => {
      // a UTC day at a time: memory is bounded by what one day holds
      const days: Float64Array[] = []
      for (let from = fromMs; from < toMs; ) {
        const to = Math.min(toMs, Math.floor(from / dayMs) * dayMs + dayMs)
        const bucket = statsBy('r.t - r.t % cast(? as integer)')
        days.push(compute(bucket, area, [sizeMs, from, to], quality))
        from = to
      }
      return { areas: [area], cells: concat(days) }
    },

    computeOverall: (area, fromMs, toMs) => ({
      areas: [area],
      cells: concat([compute(statsBy('cast(? as integer)'), area, [fromMs, fromMs, toMs])]),
    }),

    rollups: (table, area, fromMs, toMs) => {
      const a = areaNumber(area)
      const rows = a === undefined ? [] : db.all(selectRollup[table], a, fromMs, toMs)
      const cells = new Float64Array(rows.length * statsWidth)
      for (const [i, row] of rows.entries()) {
        // the area's index is 0: there is one
        for (const [column, cell] of row.entries()) {
          cells[i * statsWidth + 1 + column] = numberOf(cell)
        }
      }
      return { areas: [area], cells }
    },
  }
}

const rowsBetweenLooks = 4_096

const statsBy = (bucket: string): string =>
  `area_stats(${bucket}, r.flags, ${statFields.map((field) => `r.${field}`).join(', ')})`
// cross join: sensors outside, so that each one's rows are read in a row
const ofNetwork = `from sensor cross join reading r
  on r.s = sensor.n and r.t >= ? and r.t < ?`
const ofArea = `from sensor_area cross join reading r
  on r.s = sensor_area.s and r.t >= ? and r.t < ? and r.a = sensor_area.a
  where sensor_area.a = ?`

const selectRollupFrom = (table: RollupTable): string =>
  `select t, readings, failed, ${statColumns.join(', ')} from ${table}
  where a = ? and t >= ? and t < ? order by t`
const selectRollup: Readonly<Record<RollupTable, string>> = {
  area_hour: selectRollupFrom('area_hour'),
  area_day: selectRollupFrom('area_day'),
}

function cellsOf(rows: readonly Row[]): Float64Array {
  const blob = rows[0]?.[0]
  // copied: a Float64Array must start at a multiple of 8
  return blob instanceof Uint8Array ? new Float64Array(blob.slice().buffer) : new Float64Array()
}

function concat(parts: readonly Float64Array[]): PackedStats['cells'] {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
