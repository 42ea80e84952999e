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
/** A longer window no longer needs to grow: one more call then reaches the beginning. */
const longestWindowMs = 400 * dayMs

/**
 * The newest readings of the network in [fromMs, toMs) by (time desc, sensor), at most `limit`. A
 * store that is asked for the newest of ten years looks at all ten, so we ask for windows back
 * from the end, each longer than the one before, until there are enough.
 */
export async function newestFromStore(
  store: Pick<Store, 'rangeAll'>,
  { fromMs, toMs, limit, after }: Query,
): Promise<readonly Reading[]> {
  const found: Reading[] = []
  // behind the cursor there may be more of its own millisecond
  let end = after === undefined ? toMs : Math.min(toMs, after.timeMs + 1)
  let windowMs = firstWindowMs
  while (end > fromMs && found.length < limit) {
    const start = windowMs > longestWindowMs ? fromMs : Math.max(fromMs, end - windowMs)
    found.push(...(await store.rangeAll(start, end, limit - found.length, after)))
    end = start
    windowMs *= growth
  }
  return found
}
