/**
 * A store whose old readings are elsewhere: what was measured before a time is read from both, so that
 * every reader gets the same, wherever a reading is. What came late for an old time is in the store until
 * the other place has it too; a reading that is in both counts once.
 */
import { wholeNetwork } from '../core/air/area.ts'
import type { DeviceSignature } from '../core/air/device-signature.ts'
import type { QualityFilter } from '../core/air/quality-level.ts'
import type { Reading } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { dayMs, floorTo } from '../core/time.ts'
import { usualRows } from './raw-rows.ts'
import { type BucketSummary, statCollector } from './stat-collector.ts'
import { areaStats, noValues, sensorStats, statFields } from './stat-fields.ts'
import { bucketMs } from './step-spans.ts'
import type { Cursor, Order, StatQuery, Store, StoreReads } from './store.ts'

/** What is read by time elsewhere, in the orders of `Store.range` and `Store.rangeAll`. */
export type OldRows<Row> = {
  readonly range: (
    sensor: SensorId,
    fromMs: number,
    toMs: number,
    limit: number,
    order: Order,
    signal?: AbortSignal,
  ) => Promise<readonly Row[]>
  readonly rangeAll: (
    fromMs: number,
    toMs: number,
    limit: number,
    cursor: Cursor | undefined,
    order: Order,
    signal?: AbortSignal,
  ) => Promise<readonly Row[]>
}

/** The other place. Each of its reads throws StoreUnavailable where it cannot be read. */
export type ExpiredRows = OldRows<Reading> & {
  /** What was measured before it may be only there; undefined: nothing is. */
  readonly beforeMs: () => number | undefined
  readonly signature: (
    sensor: SensorId,
    timeMs: number,
    signal?: AbortSignal,
  ) => Promise<DeviceSignature | undefined>
}

export function withExpired(store: Store, expired: ExpiredRows): Store {
  const reads = (from: StoreReads, signal?: AbortSignal) => readsOf(from, expired, signal)
  const own = reads(store)
  return {
    ...store,
    ...own,
    existing: async (keys) => {
      const found = await store.existing(keys)
      // asked afterwards: what the store had let go by then is recorded
      const beforeMs = expired.beforeMs() ?? 0
      return await Promise.all(
        found.map(async (reading, at) => {
          const key = keys[at]
          if (reading !== undefined || key === undefined || key.timeMs >= beforeMs) return reading
          return (await expired.range(key.sensor, key.timeMs, key.timeMs + 1, 1, 'asc'))[0]
        }),
      )
    },
    computeSensors: async (sensors, fromMs, toMs, size) => {
      const [cutMs, rest] = await settled(
        () => cut(expired, fromMs, toMs),
        (ms) => store.computeSensors(sensors, ms, toMs, size),
      )
      const old = await Promise.all(
        sensors.map(async (sensor) => {
          const pages = sensorPages(own, sensor, fromMs, cutMs)
          return (await summaries(pages, bucketMs[size])).map(({ fields, leftOut, ...head }) =>
            sensorStats(sensor, { ...head, failed: leftOut }, (field) => fieldOf(fields, field)),
          )
        }),
      )
      return [...old.flat(), ...rest]
    },
    within: (signal) => reads(store.within(signal), signal),
  }
}

function readsOf(store: StoreReads, expired: ExpiredRows, signal?: AbortSignal): StoreReads {
  const range: Store['range'] = async (sensor, fromMs, toMs, limit, order = 'desc') => {
    const rows = await store.range(sensor, fromMs, toMs, limit, order)
    return await withOld(expired, { rows, fromMs, toMs, limit, order }, (oldTo) =>
      expired.range(sensor, fromMs, oldTo, limit, order, signal),
    )
  }
  const rangeAll: Store['rangeAll'] = async (fromMs, toMs, limit, cursor, order = 'desc') => {
    const rows = await store.rangeAll(fromMs, toMs, limit, cursor, order)
    return await withOld(expired, { rows, fromMs, toMs, limit, order }, (oldTo) =>
      expired.rangeAll(fromMs, oldTo, limit, cursor, order, signal),
    )
  }
  const reads = { range, rangeAll }
  return {
    ...store,
    range,
    rangeAll,
    latest: async (sensor, limit) => {
      const rows = await store.latest(sensor, limit)
      return rows.length >= limit && (rows.at(-1)?.timeMs ?? 0) >= (expired.beforeMs() ?? 0)
        ? rows
        : await range(sensor, 0, Number.MAX_SAFE_INTEGER, limit)
    },
    at: async (sensor, timeMs) => {
      const row = await store.at(sensor, timeMs)
      if (row !== undefined || timeMs >= (expired.beforeMs() ?? 0)) return row
      return (await expired.range(sensor, timeMs, timeMs + 1, 1, 'asc', signal))[0]
    },
    signature: async (sensor, timeMs) => {
      const signature = await store.signature(sensor, timeMs)
      if (signature !== undefined || timeMs >= (expired.beforeMs() ?? 0)) return signature
      return await expired.signature(sensor, timeMs, signal)
    },
    computeBuckets: async (area, fromMs, toMs, size, quality) => {
      const [cutMs, rest] = await settled(
        () => cut(expired, fromMs, toMs),
        async (ms) => (ms < toMs ? await store.computeBuckets(area, ms, toMs, size, quality) : []),
      )
      const old = await summaries(areaPages(reads, area, fromMs, cutMs), bucketMs[size], quality)
      return [...old.map((one) => statsOf(area, one)), ...rest]
    },
    computeOverall: async (area, fromMs, toMs, unwritten) => {
      const [cutMs, all] = await settled(
        () => cut(expired, fromMs, toMs),
        async (ms) =>
          ms <= fromMs ? await store.computeOverall(area, fromMs, toMs, unwritten) : undefined,
      )
      if (cutMs <= fromMs) return all
      const [whole] = await summaries(areaPages(reads, area, fromMs, toMs), undefined)
      return whole && statsOf(area, { ...whole, startMs: fromMs })
    },
    statistics: async (query) => {
      const [, steps] = await settled(expired.beforeMs, (ms) =>
        store.statistics(withoutExpired(query, ms)),
      )
      return steps
    },
  }
}

/**
 * The same query as far as it can be answered without readings that are not in the store: in the expired
 * part steps are made of written hours or days, and begin and end with them.
 */
export function withoutExpired(query: StatQuery, beforeMs = 0): StatQuery {
  if ((query.edges[0] ?? 0) >= beforeMs) return query
  const from = query.from === 'readings' ? 'hour' : query.from
  const edges = query.edges.map((edge) => (edge < beforeMs ? floorTo(edge, bucketMs[from]) : edge))
  const { unwritten, writtenFromMs } = query
  // an hour that waits to be written again, by other rules too, is there as it was before
  const open = unwritten === 'all' ? [] : [...unwritten].filter((at) => at >= beforeMs)
  const toMs = Math.min(unwritten === 'all' ? Infinity : writtenFromMs, edges.at(-1) ?? 0)
  for (let at = beforeMs; at < toMs; at += bucketMs[from]) open.push(at)
  return { ...query, from, edges, unwritten: new Set(open), writtenFromMs: 0 }
}

type Page = {
  readonly rows: readonly Reading[]
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
  readonly order: Order
}

/** A page of the store, with what the other place has up to where it must be asked. */
async function withOld(
  expired: ExpiredRows,
  page: Page,
  ask: (oldTo: number) => Promise<readonly Reading[]>,
): Promise<readonly Reading[]> {
  const oldTo = oldEnd(expired, page)
  return oldTo <= page.fromMs ? page.rows : merged(page.rows, await ask(oldTo), page)
}

/** Up to where the other place is asked too; not above `fromMs`: it need not be. */
function oldEnd({ beforeMs }: ExpiredRows, { rows, fromMs, toMs, limit, order }: Page): number {
  // asked after the store has answered: what it had let go by then is recorded
  const oldTo = Math.min(toMs, beforeMs() ?? 0)
  const last = rows.at(-1)
  const isFull = last !== undefined && rows.length >= limit
  return limit <= 0 || (order === 'desc' && isFull && last.timeMs >= oldTo) ? fromMs : oldTo
}

const cut = ({ beforeMs }: ExpiredRows, fromMs: number, toMs: number): number =>
  Math.min(toMs, Math.max(fromMs, beforeMs() ?? 0))

/** What expires while the store answers may be gone from the answer: it is asked again then. */
async function settled<Border extends number | undefined, T>(
  borderNow: () => Border,
  ask: (border: Border) => Promise<T>,
): Promise<readonly [Border, T]> {
  for (;;) {
    const border = borderNow()
    const answer = await ask(border)
    if (borderNow() === border) return [border, answer]
  }
}

/** Both are in the order; what is in both is taken once. */
function merged(
  rows: readonly Reading[],
  old: readonly Reading[],
  { limit, order }: Pick<Page, 'limit' | 'order'>,
): readonly Reading[] {
  if (old.length === 0) return rows
  const seen = new Set(rows.map(({ seq }) => seq))
  const both = [...rows, ...old.filter(({ seq }) => !seen.has(seq))]
  const sign = order === 'asc' ? 1 : -1
  return both
    .sort((a, b) => sign * (a.timeMs - b.timeMs) || (a.sensor < b.sensor ? -1 : 1))
    .slice(0, limit)
}

type Pages = AsyncGenerator<readonly Reading[]>
type Ranges = Pick<StoreReads, 'range' | 'rangeAll'>
const pageRows = 5_000

async function* sensorPages(
  { range }: Ranges,
  sensor: SensorId,
  fromMs: number,
  toMs: number,
): Pages {
  for (let from = fromMs; from < toMs; ) {
    const page = await range(sensor, from, toMs, pageRows, 'asc')
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return
    from = last.timeMs + 1
  }
}

async function* areaPages({ rangeAll }: Ranges, area: string, fromMs: number, toMs: number): Pages {
  let cursor: Cursor | undefined
  while (fromMs < toMs) {
    const page = await rangeAll(fromMs, toMs, pageRows, cursor, 'asc')
    yield area === wholeNetwork ? page : page.filter((row) => row.area === area)
    cursor = page.at(-1)
    if (page.length < pageRows) return
  }
}

/** A UTC day at a time, as the store does. @param sizeMs undefined: one bucket of all */
async function summaries(
  pages: Pages,
  sizeMs: number | undefined,
  quality?: QualityFilter,
): Promise<BucketSummary[]> {
  const { selected, add } = usualRows(quality)
  const made: BucketSummary[] = []
  let collector = statCollector()
  let day = -1
  for await (const page of pages)
    for (const row of page) {
      const ofDay = sizeMs === undefined ? 0 : floorTo(row.timeMs, dayMs)
      if (ofDay !== day) {
        made.push(...collector.summaries())
        collector = statCollector()
        day = ofDay
      }
      const startMs = sizeMs === undefined ? 0 : floorTo(row.timeMs, sizeMs)
      const valueAt = (at: number): unknown => (selected[at] === 'aqi' ? row.aqi : row.values[at])
      add(collector, startMs, row.flags, valueAt, undefined)
    }
  made.push(...collector.summaries())
  return made
}

const fieldOf = (fields: BucketSummary['fields'], field: (typeof statFields)[number]) =>
  fields[statFields.indexOf(field)] ?? noValues

const statsOf = (area: string, { fields, leftOut, ...head }: BucketSummary) =>
  areaStats(area, { ...head, failed: leftOut }, (field) => fieldOf(fields, field))
