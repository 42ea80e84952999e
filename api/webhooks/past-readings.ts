/** The newest stored readings of some sensors, or of all, within a bound. */
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { Cursor, Store } from '../../store/store.ts'

/** A page of the store's, in the account's turn. */
export type AskPage = (
  page: (store: Pick<Store, 'range' | 'rangeAll'>) => Promise<readonly Reading[]>,
) => Promise<readonly Reading[]>

export type PastReadings = {
  /** By sensor, in the order of their numbers, which is that in which they were accepted. */
  readonly bySensor: ReadonlyMap<SensorId, readonly Reading[]>
  readonly looked: number
  /** Complete from this time on. */
  readonly sinceMs: number
}

/** About 300 bytes of memory each. */
export const mostReadings = 100_000
const pageSize = 5_000

type Wanted = {
  /** undefined: of all. */
  readonly sensors: readonly SensorId[] | undefined
  readonly fromMs: number
  readonly toMs: number
}

export async function readPastReadings(
  ask: AskPage,
  { sensors, fromMs, toMs }: Wanted,
  most: number = mostReadings,
): Promise<PastReadings> {
  const bySensor = new Map<SensorId, Reading[]>()
  let looked = 0
  let sinceMs = fromMs
  /** @returns whether there may be more */
  const take = (rows: readonly Reading[], limit: number): boolean => {
    looked += rows.length
    for (const row of rows) {
      const known = bySensor.get(row.sensor)
      if (known === undefined) bySensor.set(row.sensor, [row])
      else known.push(row)
    }
    return rows.length === limit
  }
  const readAll = async (
    each: number,
    read: (after: Reading | undefined, limit: number) => Promise<readonly Reading[]>,
  ): Promise<void> => {
    let after: Reading | undefined
    for (let left = each; ; ) {
      if (left <= 0) {
        // of the oldest time some may be missing
        sinceMs = Math.max(sinceMs, (after?.timeMs ?? fromMs) + 1)
        return
      }
      const limit = Math.min(pageSize, left)
      const rows = await read(after, limit)
      if (!take(rows, limit)) return
      after = rows.at(-1)
      left -= rows.length
    }
  }
  if (sensors === undefined)
    await readAll(most, (after, limit) => {
      const cursor: Cursor | undefined = after
      return ask((store) => store.rangeAll(fromMs, toMs, limit, cursor, 'desc'))
    })
  else
    for (const sensor of sensors)
      await readAll(Math.floor(most / sensors.length), (after, limit) =>
        ask((store) => store.range(sensor, fromMs, after?.timeMs ?? toMs, limit, 'desc')),
      )
  for (const rows of bySensor.values()) rows.sort((a, b) => a.seq - b.seq)
  return { bySensor, looked, sinceMs }
}
