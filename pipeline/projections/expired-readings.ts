/**
 * What the operator let go is in the archive: a late reading is compared with it, or the same reading
 * would be accepted twice, and the hour that it belongs to is computed from both.
 *
 * The record of retention is written before anything is deleted, so it is read after the store has answered:
 * a reading that the store did not have, of a time that is not expired by then, was never accepted.
 */
import type { Reading, ReadingKey } from '../../core/air/reading.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import type { WatchedRetention } from '../../runtime/nats/retention.ts'
import type { Store } from '../../store/store.ts'
import { type ExpiredRows, withExpired } from '../../store/with-expired.ts'
import type { SensorRowsStore } from './sensor-rows.ts'

/** `unasked`: only the archive could know, and it cannot be read. */
export type Known = Reading | 'unasked' | undefined

export type ExpiredReadings = {
  /** As the store's, with what is expired. @throws ArchiveUnreadable for a minute, then it is `unasked` */
  readonly existing: (keys: readonly ReadingKey[]) => Promise<readonly Known[]>
  /** The store of the statistics job: it computes hours from what is expired as well. */
  readonly statistics: SensorRowsStore
}

type Options = {
  readonly store: Store
  readonly rows: ExpiredRows
  readonly retention: Pick<WatchedRetention, 'now' | 'barrier'>
  readonly nowMs: () => number
  /** An expired hour is left as it is. */
  readonly onUnreadable: (error: ArchiveUnreadable) => void
}

/** Nothing younger is ever expired: two days are the fewest that can be set. */
const alwaysThereMs = dayMs
/** A disk that comes back within it refuses nothing. */
const waitMs = minuteMs

export function expiredReadings(options: Options): ExpiredReadings {
  return { existing: existingIn(options), statistics: statisticsOf(options) }
}

/** Of a time that begins there; 0: nothing of it is. */
async function beforeMs({ retention, nowMs }: Options, fromMs: number): Promise<number> {
  if (fromMs >= nowMs() - alwaysThereMs) return 0
  await retention.barrier()
  return retention.now().rawBeforeMs ?? 0
}

function existingIn(options: Options): ExpiredReadings['existing'] {
  const { store, rows, nowMs } = options
  let failingSinceMs: number | undefined
  return async (keys) => {
    const found = await store.existing(keys)
    const missing = keys.flatMap((key, at) => (found[at] === undefined ? [{ key, at }] : []))
    const oldest = missing.reduce((least, { key }) => Math.min(least, key.timeMs), Infinity)
    const expiredMs = await beforeMs(options, oldest)
    const known: Known[] = [...found]
    let hasFailed = false
    for (const { key, at } of missing) {
      if (key.timeMs >= expiredMs) continue
      try {
        const [row] = await rows.range(key.sensor, key.timeMs, key.timeMs + 1, 1, 'asc')
        known[at] = row
      } catch (error) {
        if (!(error instanceof ArchiveUnreadable)) throw error
        hasFailed = true
        failingSinceMs ??= nowMs()
        if (nowMs() - failingSinceMs < waitMs) throw error
        known[at] = 'unasked'
      }
    }
    if (!hasFailed && oldest < expiredMs) failingSinceMs = undefined
    return known
  }
}

function statisticsOf(options: Options): SensorRowsStore {
  const { store, rows, onUnreadable } = options
  const whole = withExpired(store, rows)

  /** The expired part of a span from both, the rest from the store. */
  const inParts = async <T>(
    fromMs: number,
    toMs: number,
    ofStore: (fromMs: number) => Promise<readonly T[]>,
    ofBoth: (toMs: number) => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    for (let cutMs = await beforeMs(options, fromMs); ; ) {
      const rest = cutMs < toMs ? await ofStore(Math.max(fromMs, cutMs)) : []
      const afterMs = await beforeMs(options, fromMs)
      // of what expired meanwhile, some rows may have been gone already
      if (afterMs !== cutMs && afterMs > fromMs) {
        cutMs = afterMs
        continue
      }
      if (cutMs <= fromMs) return rest
      try {
        return [...(await ofBoth(Math.min(cutMs, toMs))), ...rest]
      } catch (error) {
        if (!(error instanceof ArchiveUnreadable)) throw error
        onUnreadable(error)
        return rest
      }
    }
  }

  return {
    ...store,
    computeBuckets: async (area, fromMs, toMs, size) =>
      inParts(
        fromMs,
        toMs,
        (from) => store.computeBuckets(area, from, toMs, size),
        (to) => whole.computeBuckets(area, fromMs, to, size),
      ),
    computeSensors: async (sensors, fromMs, toMs, size) =>
      inParts(
        fromMs,
        toMs,
        (from) => store.computeSensors(sensors, from, toMs, size),
        (to) => whole.computeSensors(sensors, fromMs, to, size),
      ),
    // days of which only late readings are in the store are not made again from those alone
    keptFromMs: async () => {
      const [kept = 0, expired] = [await store.keptFromMs(), await beforeMs(options, 0)]
      return Math.max(kept, expired)
    },
  }
}
