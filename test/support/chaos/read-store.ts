import type { Reading } from '../../../core/air/reading.ts'
import type { Cursor, Store } from '../../../store/store.ts'
import { eventually } from '../eventually.ts'

const pageRows = 5_000

/** Every row of the store, newest first. */
export async function readRows(store: Store): Promise<readonly Reading[]> {
  const rows: Reading[] = []
  let cursor: Cursor | undefined
  for (;;) {
    const page = await store.rangeAll(0, Date.UTC(2200, 0), pageRows, cursor)
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return rows
    cursor = { timeMs: last.timeMs, sensor: last.sensor }
  }
}

const bySeq = (a: Reading, b: Reading): number => a.seq - b.seq

/** Sorted, and with only the fields of a reading, to be compared completely. */
export const plainRows = (rows: readonly Reading[]): readonly Reading[] =>
  rows
    .map(({ sensor, area, timeMs, values, aqi, flags, seq, leafVersion, device }) => ({
      sensor,
      area,
      timeMs,
      values,
      aqi,
      flags,
      seq,
      ...(leafVersion === undefined ? {} : { leafVersion }),
      ...(device === undefined ? {} : { device }),
    }))
    .toSorted(bySeq)

/** Waits until the store has that many rows, then returns all it has. */
export async function untilStored(store: Store, rows: number): Promise<readonly Reading[]> {
  let stored: readonly Reading[] = []
  let fault: unknown
  const look = async (): Promise<boolean> => {
    try {
      stored = await readRows(store)
    } catch (error) {
      fault = error
    }
    return stored.length >= rows
  }
  try {
    await eventually(`the store has ${rows} rows`, look, {
      everyMs: 250,
      progress: () => stored.length,
    })
  } catch (error) {
    throw new Error(`${String(error)}: it has ${stored.length}`, { cause: fault ?? error })
  }
  return stored
}
