/** Compares what two stores have of a span, row by row; each is read once, a page at a time. */
import type { Reading } from '../../core/air/reading.ts'
import type { Cursor, Store } from '../../store/store.ts'

const pageRows = 10_000

export type Pair = { readonly from: Reading | undefined; readonly to: Reading | undefined }

/** Receives each row of either, by (time, sensor), with that of the other under the same key. */
export async function mergeRows(
  source: Pick<Store, 'rangeAll'>,
  target: Pick<Store, 'rangeAll'>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  onPair: (pair: Pair) => Promise<void> | undefined,
): Promise<void> {
  const a = rowReader(source, fromMs, toMs)
  const b = rowReader(target, fromMs, toMs)
  for (;;) {
    // before the other one goes past the page's end: what is written by then is not in the next page
    if (a.isEmpty()) await a.fill()
    if (b.isEmpty()) await b.fill()
    const [from, to] = [a.head(), b.head()]
    if (from === undefined && to === undefined) return
    const order = compare(from, to)
    if (order <= 0) a.shift()
    if (order >= 0) b.shift()
    const working = onPair({ from: order <= 0 ? from : undefined, to: order >= 0 ? to : undefined })
    if (working !== undefined) await working
  }
}

function rowReader(store: Pick<Store, 'rangeAll'>, fromMs: number, toMs: number) {
  let page: readonly Reading[] = []
  let at = 0
  let cursor: Cursor | undefined
  let isOver = false
  return {
    isEmpty: () => at >= page.length && !isOver,
    head: () => page[at],
    shift: () => void at++,
    fill: async () => {
      page = await store.rangeAll(fromMs, toMs, pageRows, cursor, 'asc')
      at = 0
      cursor = page.at(-1)
      isOver = page.length < pageRows
    },
  }
}

/** What is not there comes after everything. */
function compare(a: Reading | undefined, b: Reading | undefined): number {
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  if (a.timeMs !== b.timeMs) return a.timeMs - b.timeMs
  if (a.sensor === b.sensor) return 0
  return a.sensor < b.sensor ? -1 : 1
}
