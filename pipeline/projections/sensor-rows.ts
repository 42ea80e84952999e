/** Hours and days of sensors: computed from readings, and written, in calls of a bounded size. */
import { wholeNetwork } from '../../core/air/area.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import type { BucketSize, Store } from '../../store/store.ts'

export type SensorRowsStore = Pick<
  Store,
  | 'names'
  | 'rangeAll'
  | 'keptFromMs'
  | 'computeBuckets'
  | 'keepHourValues'
  | 'computeSensors'
  | 'writeAreaHours'
  | 'writeAreaDays'
  | 'writeSensorHours'
  | 'writeSensorDays'
>

type Span = { readonly fromMs: number; readonly toMs: number }

const stepMsOf = { hour: hourMs, day: dayMs } as const
/** Statistics of one call: some MB, and some 50 ms of the store's writer. */
const mostRows = 2_400

export async function writeSensors(
  store: SensorRowsStore,
  sensors: readonly SensorId[],
  { fromMs, toMs }: Span,
  size: BucketSize,
): Promise<void> {
  const write = size === 'hour' ? store.writeSensorHours : store.writeSensorDays
  const each = Math.max(1, Math.floor((mostRows * stepMsOf[size]) / (toMs - fromMs)))
  for (let at = 0; at < sensors.length; at += each) {
    const rows = await store.computeSensors(sensors.slice(at, at + each), fromMs, toMs, size)
    if (rows.length > 0) await write(rows)
  }
}

/**
 * What was stored before a version wrote the hours and days of sensors (or before the operator had all
 * statistics made again): UTC days, the newest first, from the readings that the store holds.
 */
export type PastDays = {
  /**
   * Works until `untilMs`, at least one chunk.
   * @returns everything from there on is written; 0: all is
   */
  readonly work: (untilMs: number) => Promise<number>
}

type PastOptions = {
  readonly store: SensorRowsStore
  readonly nowMs: () => number
  /** From there on it is written. */
  readonly fromMs: number
}

/** A chunk of a day: what the rounds wait for. */
const sensorsAtOnce = 50

export function pastDays({ store, nowMs, fromMs }: PastOptions): PastDays {
  let writtenFromMs = fromMs
  let left:
    | { readonly day: number; readonly sensors: SensorId[]; readonly areas: string[] }
    | undefined

  const begin = async (): Promise<boolean> => {
    const newest = await newestBefore(store, writtenFromMs)
    const keptMs = (await store.keptFromMs()) ?? 0
    const day = newest === undefined ? -1 : floorTo(newest, dayMs)
    // of a day that the engine has begun to drop, what is written knows more
    if (day < keptMs) return false
    const { sensors, areas } = await store.names()
    left = { day, sensors: [...sensors], areas: [...new Set([...areas, wholeNetwork])] }
    return true
  }

  const chunk = async (): Promise<void> => {
    if (left === undefined && !(await begin())) writtenFromMs = 0
    if (left === undefined) return
    const { day, sensors, areas } = left
    // what is not over is computed when it is
    const hours = { fromMs: day, toMs: Math.min(day + dayMs, floorTo(nowMs(), hourMs)) }
    const isOver = day + dayMs <= nowMs()
    const some = sensors.splice(0, sensorsAtOnce)
    if (some.length > 0) {
      if (hours.fromMs < hours.toMs) await writeSensors(store, some, hours, 'hour')
      if (isOver) await writeSensors(store, some, { fromMs: day, toMs: day + dayMs }, 'day')
      return
    }
    const area = areas.pop()
    if (area !== undefined) {
      if (hours.fromMs < hours.toMs)
        await store.writeAreaHours(
          await store.computeBuckets(area, hours.fromMs, hours.toMs, 'hour'),
        )
      if (isOver)
        await store.writeAreaDays(await store.computeBuckets(area, day, day + dayMs, 'day'))
      return
    }
    writtenFromMs = day
    left = undefined
  }

  return {
    work: async (untilMs) => {
      while (writtenFromMs > 0) {
        await chunk()
        if (nowMs() >= untilMs) break
      }
      return writtenFromMs
    },
  }
}

/** The time of the newest reading before; near ones are found sooner with a bound. */
async function newestBefore(
  store: Pick<Store, 'rangeAll'>,
  beforeMs: number,
): Promise<number | undefined> {
  for (const daysBack of [1, 31, Infinity]) {
    const [reading] = await store.rangeAll(Math.max(0, beforeMs - daysBack * dayMs), beforeMs, 1)
    if (reading !== undefined) return reading.timeMs
  }
  return undefined
}
