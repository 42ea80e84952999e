import { wholeNetwork } from '../../core/air/area.ts'
import type { RawRows } from '../raw-rows.ts'
import type { StatCollector } from '../stat-collector.ts'
import type { Span } from '../step-spans.ts'
import type { StatQuery } from '../store.ts'
import type { Row, SqliteFile } from './file.ts'
import { numberOf } from './pack.ts'

/** Whose rows, by their numbers in the file. */
export type Source =
  | { readonly kind: 'network'; readonly a: number }
  | { readonly kind: 'area'; readonly a: number }
  | { readonly kind: 'sensors'; readonly sensors: readonly number[] }

/**
 * Rows for statistics. They never become objects: an aggregate takes them inside SQLite's loop (0.3 µs
 * a row, where fetching them costs 0.8).
 */
export type FeedRows = {
  /** @param sql selects `take_rows(…)` @param into receives its arguments, row by row */
  readonly feed: (sql: string, params: readonly number[], into: (cells: Row) => void) => void
  /** The readings of a span. @param partAt the start of the part that a time belongs to */
  readonly feedRaw: (
    source: Source,
    rows: RawRows<number>,
    span: Span,
    collector: StatCollector,
    partAt: (timeMs: number) => number,
  ) => void
  readonly sourceOf: (of: StatQuery['of']) => Source
  readonly numberIn: (table: 'sensor' | 'area', column: string, name: string) => number | undefined
}

/** @param mustBeWanted throws if the caller of the call under way has given up */
export function feedRows(db: SqliteFile, mustBeWanted: () => void): FeedRows {
  let take: (cells: Row) => void = () => undefined
  let rows = 0
  db.aggregate(
    'take_rows',
    () => undefined,
    (_, cells) => {
      // a millisecond's worth: an error leaves the statement
      if (++rows % rowsBetweenLooks === 0) mustBeWanted()
      take(cells)
    },
    () => nothing,
  )
  const feed = (sql: string, params: readonly number[], into: (cells: Row) => void): void => {
    take = into
    mustBeWanted()
    db.all(sql, ...params)
  }
  const numberIn = (table: 'sensor' | 'area', column: string, name: string): number | undefined => {
    const row = db.all(`select n from ${table} where ${column} = ?`, name)[0]
    return row === undefined ? undefined : numberOf(row[0])
  }

  const feedRaw = (
    source: Source,
    { selected, add }: RawRows<number>,
    { fromMs, toMs }: Span,
    collector: StatCollector,
    partAt: (timeMs: number) => number,
  ): void => {
    const columns = selected.map((field) => `, r.${field}`).join('')
    const into = (cells: Row): void => {
      const [t, s, flags] = cells
      const valueAt = (at: number): unknown => cells[at + 3]
      add(collector, partAt(numberOf(t)), numberOf(flags), valueAt, numberOf(s))
    }
    const select = `select take_rows(r.t, r.s, r.flags${columns})`
    if (source.kind === 'network') return feed(`${select} ${ofNetwork}`, [fromMs, toMs], into)
    if (source.kind === 'area') return feed(`${select} ${ofArea}`, [fromMs, toMs, source.a], into)
    for (const s of source.sensors) feed(`${select} ${ofSensor}`, [s, fromMs, toMs], into)
  }

  const sourceOf = (of: StatQuery['of']): Source => {
    if ('sensors' in of) {
      const sensors = of.sensors.flatMap((id) => numberIn('sensor', 'id', id) ?? [])
      return { kind: 'sensors', sensors }
    }
    const a = numberIn('area', 'name', of.area)
    if (of.area === wholeNetwork) return { kind: 'network', a: a ?? -1 }
    return a === undefined ? { kind: 'sensors', sensors: [] } : { kind: 'area', a }
  }
  return { feed, feedRaw, sourceOf, numberIn }
}

const rowsBetweenLooks = 4_096
const nothing = new Uint8Array()

// cross join: sensors outside, so that each one's rows are read in a row
const ofNetwork = `from sensor cross join reading r
  on r.s = sensor.n and r.t >= ? and r.t < ?`
const ofArea = `from sensor_area cross join reading r
  on r.s = sensor_area.s and r.t >= ? and r.t < ? and r.a = sensor_area.a
  where sensor_area.a = ?`
const ofSensor = 'from reading r where r.s = ? and r.t >= ? and r.t < ?'
