import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs } from '../../core/time.ts'
import type { Cursor, Order, Store } from '../store.ts'
import { existingIn } from './existing.ts'
import { endOfTimeMs, type InfluxQuery, timeParam } from './query.ts'
import { readingFields, readingOf, signatureFields, signatureOf } from './row.ts'

export type InfluxReads = Pick<
  Store,
  'existing' | 'latest' | 'range' | 'rangeAll' | 'at' | 'signature' | 'seedLatest'
>

/** What is newest is nearly always this young, and found four times faster with a bound. */
const recentMs = 30 * dayMs

/** @param now for a bound that saves time; wrong, it costs a second query and no more */
export function influxReads(query: InfluxQuery, now: () => number): InfluxReads {
  const range: Store['range'] = async (sensor, fromMs, toMs, limit, order = 'desc') => {
    if (limit <= 0 || fromMs >= toMs) return []
    const [series = []] = await query(`${ofSensor} ${sorted(order, limit)}`, {
      sensor,
      from: timeParam(fromMs),
      to: timeParam(toMs),
    })
    return series.flatMap(({ values }) => values.flatMap((row) => readingOf(row, sensor)))
  }

  /** Everyone's, whole: no page ends inside. */
  const instant = async (timeMs: number): Promise<Reading[]> => {
    const [series = []] = await query(ofEveryoneAt, { at: timeParam(timeMs) })
    return series.flatMap(({ values }) => values.flatMap((row) => readingOf(row))).sort(bySensor)
  }

  /** Where the limit cuts, the last ms may be there in part and in any order. */
  const page = async (
    fromMs: number,
    toMs: number,
    limit: number,
    order: Order,
  ): Promise<Reading[]> => {
    if (limit <= 0 || fromMs >= toMs) return []
    const statement = `${ofEveryone} ${sorted(order, limit)}`
    const inOrder = order === 'asc' ? oldestFirst : newestFirst
    const [series = []] = await query(statement, { from: timeParam(fromMs), to: timeParam(toMs) })
    const rows = series.flatMap(({ values }) => values.flatMap((row) => readingOf(row)))
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) return rows.sort(inOrder)
    const whole = rows.filter(({ timeMs }) => timeMs !== last.timeMs)
    return [...whole, ...(await instant(last.timeMs))].sort(inOrder).slice(0, limit)
  }

  return {
    existing: async (keys) => existingIn(query, keys),

    latest: async (sensor, limit) => {
      const recent = await range(sensor, now() - recentMs, endOfTimeMs, limit)
      return recent.length >= limit ? recent : range(sensor, 0, endOfTimeMs, limit)
    },

    range,

    rangeAll: async (fromMs, toMs, limit, cursor, order = 'desc') => {
      if (cursor === undefined) return page(fromMs, toMs, limit, order)
      const within = cursor.timeMs >= fromMs && cursor.timeMs < toMs && limit > 0
      const beside = within ? await besideCursor(instant, cursor) : []
      const from = order === 'asc' ? Math.max(fromMs, cursor.timeMs + 1) : fromMs
      const to = order === 'asc' ? toMs : Math.min(toMs, cursor.timeMs)
      const rest = await page(from, to, limit - beside.length, order)
      return [...beside, ...rest].slice(0, limit)
    },

    at: async (sensor, timeMs) => {
      const [series = []] = await query(ofSensorAt, { sensor, at: timeParam(timeMs) })
      return series.flatMap(({ values }) => values.flatMap((row) => readingOf(row, sensor)))[0]
    },

    signature: async (sensor, timeMs) => {
      const [series = []] = await query(signatureAt, { sensor, at: timeParam(timeMs) })
      return series.flatMap(({ values }) => values.flatMap((cells) => signatureOf(cells) ?? []))[0]
    },

    seedLatest: async () => {
      const [series = []] = await query(newestOfEach, {
        from: timeParam(0),
        to: timeParam(endOfTimeMs),
      })
      const newest = new Map<SensorId, Reading>()
      // one series a sensor and area: one that moved has several
      for (const { tags, values } of series) {
        for (const [timeMs = null, seq = null, aqi = null, flags = null, ...rest] of values) {
          const cells = [timeMs, aqi, flags, seq, tags?.['area'] ?? null, ...rest]
          for (const row of readingOf(cells, tags?.['sensor_id'])) {
            const known = newest.get(row.sensor)
            if (known === undefined || known.timeMs < row.timeMs) newest.set(row.sensor, row)
          }
        }
      }
      return [...newest.values()]
    },
  }
}

const besideCursor = async (
  instant: (timeMs: number) => Promise<Reading[]>,
  { timeMs, sensor }: Cursor,
): Promise<Reading[]> => (await instant(timeMs)).filter((row) => row.sensor > sensor)

const bySensor = (a: Reading, b: Reading): number =>
  a.sensor < b.sensor ? -1 : a.sensor > b.sensor ? 1 : 0
const newestFirst = (a: Reading, b: Reading): number => b.timeMs - a.timeMs || bySensor(a, b)
const oldestFirst = (a: Reading, b: Reading): number => a.timeMs - b.timeMs || bySensor(a, b)

const sorted = (order: Order, limit: number): string =>
  `ORDER BY time ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ${Math.floor(limit)}`

const ofSensor = `SELECT ${readingFields} FROM reading
  WHERE sensor_id = $sensor AND time >= $from AND time < $to`
const ofSensorAt = `SELECT ${readingFields} FROM reading WHERE sensor_id = $sensor AND time = $at`
const signatureAt = `SELECT ${signatureFields} FROM reading
  WHERE sensor_id = $sensor AND time = $at`
const ofEveryone = `SELECT ${readingFields}, sensor_id FROM reading
  WHERE time >= $from AND time < $to`
const ofEveryoneAt = `SELECT ${readingFields}, sensor_id FROM reading WHERE time = $at`
// seq is the one field that every row has: last(aqi) would lose sensors without PM
const newestOfEach = `SELECT last(seq) AS seq, aqi, flags, leaf, backfill, device, ${quantityNames.join(', ')}
  FROM reading WHERE time >= $from AND time < $to GROUP BY sensor_id, area`
