import type { Reading } from '../../core/air/reading.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import type { Cursor, Store } from '../../store/store.ts'

type Query = {
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
  readonly after?: Cursor | undefined
}

const firstWindowMs = 5 * minuteMs
const growth = 8
/** A longer window does not need to grow: one more call then reaches the beginning. */
const longestWindowMs = 400 * dayMs

/**
 * The newest readings of the network in [fromMs, toMs) by (time desc, sensor), at most `limit`. A
 * store that is asked for the newest of ten years reads all ten, so we read windows from the end
 * backwards, each longer than the one before, until there are enough readings.
 */
export async function newestFromStore(
  store: Pick<Store, 'rangeAll'>,
  { fromMs, toMs, limit, after }: Query,
): Promise<readonly Reading[]> {
  const rows: Reading[] = []
  // the cursor's own millisecond may hold more readings after it
  let end = after === undefined ? toMs : Math.min(toMs, after.timeMs + 1)
  let windowMs = firstWindowMs
  while (end > fromMs && rows.length < limit) {
    const start = windowMs > longestWindowMs ? fromMs : Math.max(fromMs, end - windowMs)
    rows.push(...(await store.rangeAll(start, end, limit - rows.length, after)))
    end = start
    windowMs *= growth
  }
  return rows
}

/**
 * The oldest ones, by (time, sensor). Of ten years the store would read all ten here too, so the
 * windows go forwards.
 * @param beginMs nearly nothing is older: what is, is read at once
 */
export async function oldestFromStore(
  store: Pick<Store, 'rangeAll'>,
  { fromMs, toMs, limit, after }: Query,
  beginMs: number,
): Promise<readonly Reading[]> {
  const rows: Reading[] = []
  // the cursor's own millisecond may hold more readings after it
  let start = Math.max(fromMs, after?.timeMs ?? 0)
  let windowMs = start < beginMs ? beginMs - start : firstWindowMs
  let isBefore = start < beginMs
  while (start < toMs && rows.length < limit) {
    const end = !isBefore && windowMs > longestWindowMs ? toMs : Math.min(toMs, start + windowMs)
    rows.push(...(await store.rangeAll(start, end, limit - rows.length, after, 'asc')))
    start = end
    windowMs = isBefore ? firstWindowMs : windowMs * growth
    isBefore = false
  }
  return rows
}
