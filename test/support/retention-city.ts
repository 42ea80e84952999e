/** A network that lives through many days, with a real anchor, archive and statistics: time is simulated, a day at a call. */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { type Expired, type ExpireOptions, Expiry } from '../../archive/expire.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { openArchiveFiles } from '../../operate/archive/archive-files.ts'
import { expiredRows } from '../../operate/archive/expired-rows.ts'
import { readCatalogue } from '../../operate/archive/read-catalogue.ts'
import {
  type ExpiredReadings,
  expiredReadings,
} from '../../pipeline/projections/expired-readings.ts'
import { type RollUpRecord, runRollUps } from '../../pipeline/projections/roll-ups.ts'
import { readRowsOf } from '../../pipeline/read-rows.ts'
import { RowsAtHand } from '../../pipeline/rows-at-hand.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { watchRetention } from '../../runtime/nats/retention.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { type ArchivedCity, archivedCity, level3, todayMs } from './archived-city.ts'
import { eventually } from './eventually.ts'

const keccak = await createKeccak()
const never = new AbortController().signal

export type RetentionCity = AsyncDisposable & {
  readonly city: ArchivedCity
  /** Of the archive. */
  readonly folder: string
  readonly system: KV
  /** Start of the first day. */
  readonly firstMs: number
  /** The readings of day after day, sealed, final, in the store, and their statistics written. */
  readonly live: (days: number) => Promise<void>
  /** A reading measured on day `day`, from 0, that arrives now. */
  readonly late: (day: number, place?: number) => Promise<ArrivedReading>
  /** A message of the log, and its rows in the store. */
  readonly write: (content: Parameters<ArchivedCity['log']['write']>[0]) => Promise<void>
  /** Everything that was accepted is final, in the store and in the statistics. */
  readonly settle: () => Promise<void>
  readonly archive: (atMs?: number) => Promise<unknown>
  readonly expiry: (more?: Partial<ExpireOptions>) => Expiry
  /** All rounds until nothing is left to do. @param by a process that goes on */
  readonly expire: (by?: Expiry, atMs?: number) => Promise<Expired>
  readonly nowMs: () => number
  /** What the pipeline knows of late readings and hours. */
  readonly expired: ExpiredReadings
  /** Why hours of expired readings stayed as they were. */
  readonly unreadable: readonly string[]
}

export type RetentionOptions = {
  readonly rawDays?: number
  readonly blobDays?: number
  readonly perDay?: number
}

/** The days end before yesterday. */
export async function retentionCity(
  mostDays: number,
  { rawDays = 7, blobDays = 7, perDay = 400 }: RetentionOptions = {},
): Promise<RetentionCity> {
  await using opened = new AsyncDisposableStack()
  const city = opened.use(await archivedCity({ isEmpty: true }))
  const folder = join(city.folder, 'archive')
  const system = await new Kvm(city.nc).open(buckets.system)
  const firstMs = todayMs - (mostDays + 3) * dayMs
  let [lived, last] = [0, 0]
  // what is there from the beginning is stored
  let storedTo = (await (await jetstreamManager(city.nc)).streams.info(readingsStream)).state
    .last_seq
  const nowMs = (): number => firstMs + lived * dayMs + hourMs
  const retention = opened.use(await watchRetention(city.nc))
  const expired = expiredReadings({
    store: city.store,
    rows: expiredRows(openArchiveFiles(folder), retention.now),
    retention,
    nowMs: Date.now,
    onUnreadable: (error) => unreadable.push(error.message),
  })
  const unreadable: string[] = []
  const stop = new AbortController()
  const failures: unknown[] = []
  const rollUps = runRollUps({
    store: expired.statistics,
    kv: system,
    readRows: readRowsOf(city.nc, new RowsAtHand()),
    stored: async (_, seq, until) => {
      while (storedTo < seq && !until.aborted) await wait(5)
    },
    // what is late or of the border belongs to the future of the simulated days
    nowMs: () => Date.now() + 2 * dayMs,
    pause: () => wait(20),
    onFailure: (error) => failures.push(error),
    stop: stop.signal,
  })
  opened.defer(async () => {
    stop.abort()
    await rollUps
  })
  const write: RetentionCity['write'] = async (content) => {
    const from = city.log.written.length
    last = await city.log.write({ ...level3, ...content })
    await city.store.writeBatch(city.log.written.slice(from))
    storedTo = last
  }
  const settle = async (): Promise<void> => {
    await city.settle()
    await eventually(
      'the statistics are written',
      async () => {
        if (failures.length > 0) throw failures[0]
        const record = (await system.get(systemKeys.rollup))?.json<RollUpRecord>()
        return (
          record !== undefined &&
          record.position >= last &&
          record.dirty.length + record.dirtyDays.length === 0 &&
          record.sensorsFromMs === 0
        )
      },
      { everyMs: 50 },
    )
  }
  const live = async (days: number): Promise<void> => {
    for (let day = lived; day < lived + days; day++)
      for (let partition = 0; partition < 4; partition++)
        await write({
          partition,
          readings: perDay / 4,
          arrivedMs: firstMs + day * dayMs + (1 + 5 * partition) * hourMs,
        })
    lived += days
    await settle()
  }
  const late = async (day: number, place = 0): Promise<ArrivedReading> => {
    await write({
      partition: 1,
      readings: 1,
      arrivedMs: firstMs + day * dayMs + 20 * hourMs + place,
    })
    const [reading] = city.log.written.slice(-1)
    if (reading === undefined) throw new Error('nothing was written')
    return reading
  }
  const expiry = (more: Partial<ExpireOptions> = {}): Expiry =>
    new Expiry({
      nc: city.nc,
      store: city.store,
      openWriter: () => openSqliteStore({ file: city.storeFile }),
      folder,
      rawDays,
      blobDays,
      keccak,
      pause: () => Promise.resolve(),
      ...more,
    })
  const closing = opened.move()
  return {
    city,
    folder,
    system,
    firstMs,
    live,
    write,
    late,
    settle,
    archive: (atMs = nowMs()) => city.archive(folder, { isPart: true, nowMs: atMs }),
    expiry,
    expire: async (by = expiry(), atMs = nowMs()) => {
      const catalogue = await readCatalogue(folder)
      if (catalogue === undefined) throw new Error('there is no archive')
      for (;;) {
        const done = await by.round(catalogue, { nowMs: atMs, stop: never })
        if (!done.isMore) return done
      }
    },
    nowMs,
    expired,
    unreadable,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
