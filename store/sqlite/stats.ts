import { floorTo, hourMs } from '../../core/time.ts'
import {
  besideHours,
  decodeHourValues,
  encodeHourValues,
  hoursIn,
  isOfHour,
} from '../hour-values.ts'
import { usualRows } from '../raw-rows.ts'
import { type StatCollector, statCollector } from '../stat-collector.ts'
import { daysOf, type Span } from '../step-spans.ts'
import type { Unwritten } from '../store.ts'
import type { SqliteCalls } from './calls.ts'
import type { FeedRows } from './feed-rows.ts'
import { bytesOf, type SqliteFile } from './file.ts'
import { numberOf } from './pack.ts'
import { type PackedStats, packSummaries, statsWidth } from './pack-stats.ts'
import { type RollupTable, statColumns } from './schema.ts'

export type SqliteStats = Pick<
  SqliteCalls,
  'computeBuckets' | 'computeOverall' | 'computeHourValues' | 'rollups'
>

/** Statistics of areas. */
export function sqliteStats(
  db: SqliteFile,
  { feedRaw, sourceOf, numberIn }: FeedRows,
): SqliteStats {
  /** Adds the hours whose values are written to one bucket. @returns their starts */
  const addHours = (
    into: StatCollector,
    area: string,
    span: Span,
    unwritten: Unwritten,
  ): number[] => {
    const a = unwritten === 'all' ? undefined : numberIn('area', 'name', area)
    const { fromMs, toMs } = hoursIn(span)
    const rows = a === undefined ? [] : db.all(selectHourValues, a, fromMs, toMs)
    const added: number[] = []
    for (const [t, bytes, readings, failed] of rows) {
      const startMs = numberOf(t)
      if (unwritten === 'all' || unwritten.has(startMs)) continue
      const hour = decodeHourValues(bytesOf(bytes))
      if (!isOfHour(hour, readings, failed)) continue
      into.addHour(span.fromMs, hour)
      added.push(startMs)
    }
    return added
  }

  return {
    computeBuckets: (area, fromMs, toMs, sizeMs, quality) => {
      const source = sourceOf({ area })
      const startOf = (timeMs: number): number => floorTo(timeMs, sizeMs)
      // a UTC day at a time: memory is bounded by what one day holds
      const days: Float64Array[] = []
      for (const day of daysOf({ fromMs, toMs })) {
        const collector = statCollector()
        feedRaw(source, usualRows(quality), day, collector, startOf)
        days.push(packSummaries(collector.summaries()))
      }
      return { areas: [area], cells: concat(days) }
    },

    computeOverall: (area, fromMs, toMs, unwritten = 'all') =>
      // one view of the file: what is in an hour is not in the rest
      db.transaction('read', () => {
        const collector = statCollector()
        const hours = addHours(collector, area, { fromMs, toMs }, unwritten)
        const source = sourceOf({ area })
        for (const span of besideHours({ fromMs, toMs }, hours))
          feedRaw(source, usualRows(), span, collector, () => fromMs)
        return { areas: [area], cells: packSummaries(collector.summaries()) }
      }),

    computeHourValues: (area, startMs) => {
      const collector = statCollector()
      const span = { fromMs: startMs, toMs: startMs + hourMs }
      feedRaw(sourceOf({ area }), usualRows(), span, collector, () => startMs)
      const [hour] = collector.hours()
      return hour && encodeHourValues(hour)
    },

    rollups: (table, area, fromMs, toMs) => {
      const a = numberIn('area', 'name', area)
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

// the row of the hour says how many readings it is of: values of fewer are of before a late one
const selectHourValues = `select v.t, v.counted, h.readings, h.failed
  from area_hour_values v join area_hour h on h.a = v.a and h.t = v.t
  where v.a = ? and v.t >= ? and v.t < ?`

const selectRollupFrom = (table: RollupTable): string =>
  `select t, readings, failed, ${statColumns.join(', ')} from ${table}
  where a = ? and t >= ? and t < ? order by t`
const selectRollup: Readonly<Record<RollupTable, string>> = {
  area_hour: selectRollupFrom('area_hour'),
  area_day: selectRollupFrom('area_day'),
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
