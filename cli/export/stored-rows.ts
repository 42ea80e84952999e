/** Rows of the database in an order and in portions that suit a reader of all of them. */
import { randomInt } from 'node:crypto'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import type { Cursor, Store } from '../../store/store.ts'

type Rows = AsyncGenerator<readonly Reading[]>
type Source = Pick<Store, 'rangeAll'>
type OfSensors = Pick<Store, 'range'>

/** No reading is younger: both engines refuse it. */
export const latestMs = Date.UTC(2200, 0, 1)

const pageRows = 5_000
const longestWindowMs = 400 * dayMs

/**
 * Everything in [fromMs, toMs), newest first, page by page. A database that is asked for the newest
 * of ten years looks at all ten, so it is asked for windows, which grow where little is.
 */
export async function* allRows(store: Source, fromMs: number, toMs: number): Rows {
  let end = toMs
  let windowMs = hourMs
  let after: Cursor | undefined
  while (end > fromMs) {
    const start = Math.max(fromMs, end - windowMs)
    const rows = await store.rangeAll(start, end, pageRows, after)
    const last = rows.at(-1)
    if (rows.length > 0) yield rows
    if (last !== undefined && rows.length === pageRows) {
      after = last
      end = Math.min(end, last.timeMs + 1)
      windowMs = Math.max(hourMs, Math.floor(windowMs / 4))
    } else {
      end = start
      windowMs = Math.min(longestWindowMs, 2 * windowMs)
    }
  }
}

/** The same, oldest first, and by sensor within a millisecond. */
export async function* rowsInOrder(store: Source, fromMs: number, toMs: number): Rows {
  let start = fromMs
  let windowMs = hourMs
  while (start < toMs) {
    const end = Math.min(toMs, start + windowMs)
    const rows = await store.rangeAll(start, end, pageRows)
    if (rows.length === pageRows && windowMs > 1) {
      windowMs = Math.max(1, Math.floor(windowMs / 4))
      continue
    }
    // of one millisecond there may be more than a page
    const whole = rows.length === pageRows ? await everything(store, start, end) : rows
    if (whole.length > 0) yield whole.toSorted(byTime)
    start = end
    windowMs = Math.min(longestWindowMs, 2 * windowMs)
  }
}

/** More sensors are found among all rows. */
export const mostAskedAlone = 100

/** The rows of up to `mostAskedAlone` sensors alone, in the same order. */
export async function* sensorRowsInOrder(
  store: OfSensors,
  sensors: readonly SensorId[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Rows {
  let start = fromMs
  let windowMs = hourMs
  while (start < toMs) {
    const end = Math.min(toMs, start + windowMs)
    const rows: Reading[] = []
    for (const sensor of sensors) {
      if (rows.length >= pageRows) break
      rows.push(...(await store.range(sensor, start, end, pageRows, 'asc')))
    }
    // a sensor has one reading per millisecond, so a page holds what they have of one
    if (rows.length >= pageRows && windowMs > 1) {
      windowMs = Math.max(1, Math.floor(windowMs / 4))
      continue
    }
    if (rows.length > 0) yield rows.toSorted(byTime)
    start = end
    windowMs = Math.min(longestWindowMs, 2 * windowMs)
  }
}

async function everything(store: Source, fromMs: number, toMs: number): Promise<Reading[]> {
  const rows: Reading[] = []
  for await (const page of allRows(store, fromMs, toMs)) rows.push(...page)
  return rows
}

const byTime = (a: Reading, b: Reading): number =>
  a.timeMs - b.timeMs || (a.sensor < b.sensor ? -1 : 1)

const drawRows = 20

/** About `count` rows from random places, each batch as often as it has readings. */
export async function* sampledRows(
  store: Source,
  headers: readonly BatchHeader[],
  count: number,
): Rows {
  const total = headers.reduce((sum, header) => sum + header.count, 0)
  if (total === 0) return
  for (let drawn = 0; drawn < count; drawn += drawRows) {
    const { timeMinMs, timeMaxMs } = headerOf(headers, randomInt(total))
    const timeMs = timeMinMs + randomInt(timeMaxMs - timeMinMs + 1)
    const rows = await store.rangeAll(timeMinMs, timeMs + 1, Math.min(drawRows, count - drawn))
    yield rows
  }
}

/** The batch that holds the reading of that place, counted through all batches. */
function headerOf(headers: readonly BatchHeader[], place: number): BatchHeader {
  let left = place
  for (const header of headers) {
    if (left < header.count) return header
    left -= header.count
  }
  throw new RangeError(`there is no reading ${place}`)
}
