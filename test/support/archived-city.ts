/** A network with readings of both leaf versions over several days, anchored by a real process, to archive. */
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Archived, archiveOnce } from '../../archive/archive-once.ts'
import type { ArchiveConfig } from '../../archive/config.ts'
import { deviceText } from '../../core/air/device-text.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import type { Store } from '../../store/store.ts'
import { anchorInstance } from './chain/anchor-instance.ts'
import { logWriter } from './chain/log-writer.ts'
import { eventually } from './eventually.ts'
import { type TestNats, testNats } from './nats.ts'
import { deviceWord, signingDevice } from './signing-device.ts'
import { temporaryFolder } from './temporary-folder.ts'

const patiently = { everyMs: 50 }
export const todayMs = floorTo(Date.now(), dayMs)
const keccak = await createKeccak()

export type ArchivedCity = AsyncDisposable & {
  readonly nc: NatsConnection
  readonly nats: TestNats
  readonly natsUrl: string
  readonly rpc: string
  readonly folder: string
  readonly storeFile: string
  readonly store: Store
  readonly log: ReturnType<typeof logWriter>
  /** Resolves when all of the log is final, and its rows are in the store. */
  readonly settle: () => Promise<void>
  /** As on the next day, unless `nowMs` says otherwise. */
  readonly archive: (
    to: string,
    more?: Partial<Pick<ArchiveConfig, 'withHashes'>> & {
      isPart?: boolean
      store?: Store
      days?: number
      nowMs?: number
      nc?: NatsConnection
    },
  ) => Promise<Archived>
}

const device = signingDevice('ed25519')

/** Every fifth is signed, and no area is simple. */
export function signedFifth(reading: ArrivedReading): ArrivedReading {
  const changed = { ...reading, area: 'Ìkẹjà, "GRA"\u2028', flags: 1 << 11 }
  if (reading.seq % 5 !== 0) return changed
  const texts = quantityNames.flatMap((name, id) => {
    const value = reading.values[id] ?? null
    return value === null ? [] : [[name, String(value / 100)] as const]
  })
  const signed = device.sign(deviceText(reading.sensor, reading.timeMs, texts))
  return { ...changed, signed, device: deviceWord(signed) }
}

export const level3 = { leafVersion: 2, change: signedFifth } as const

/**
 * @param hasLeaf1 its first readings have leaf 1, as in a folder of 0.1 that was upgraded
 * @param isEmpty there is only the border, and one reading after it
 */
export async function archivedCity({
  hasLeaf1 = true,
  isEmpty = false,
} = {}): Promise<ArchivedCity> {
  await using opened = new AsyncDisposableStack()
  const { path: folder } = opened.use(temporaryFolder())
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const instance = await anchorInstance({ nc, natsUrl: nats.url, folder, opened })
  const log = logWriter(nc)
  const storeFile = join(folder, 'readings.sqlite')
  const store = opened.use(await openSqliteStore({ file: storeFile }))
  let [stored, last] = [0, 0]
  const write: typeof log.write = async (content) => {
    last = await log.write(content)
    return last
  }
  if (hasLeaf1)
    for (let partition = 0; partition < 4; partition++)
      await write({
        partition,
        readings: 30,
        arrivedMs: todayMs - dayMs + 3 * hourMs + 10_000 * partition,
      })
  last = await log.mark()
  if (isEmpty)
    await write({ partition: 15, readings: 1, arrivedMs: todayMs - 2 * dayMs, ...level3 })
  else {
    for (let partition = 0; partition < 4; partition++)
      await write({
        partition,
        readings: 25,
        arrivedMs: todayMs - 60_000 - 10_000 * partition,
        ...level3,
      })
    // over midnight
    await write({ partition: 9, readings: 3_000, arrivedMs: todayMs - 1_000, ...level3 })
  }
  await eventually(
    'the anchor ends for contract 2',
    async () => {
      await instance.mine()
      return !instance.anchor().isAlive()
    },
    patiently,
  )
  const code = await instance.startAgain()
  if (code !== exitCodes.tryAgain) throw new Error(`the anchor ended with ${code}`)
  const settle = async (): Promise<void> => {
    await store.writeBatch(log.written.slice(stored))
    stored = log.written.length
    await eventually(
      'all is final',
      async () => {
        await instance.mine()
        return await instance.isFinal(last)
      },
      patiently,
    )
  }
  await settle()
  const closing = opened.move()
  return {
    nc,
    nats,
    natsUrl: nats.url,
    rpc: instance.url,
    folder,
    storeFile,
    store,
    log: { ...log, write },
    settle,
    archive: (
      to,
      {
        withHashes = false,
        isPart = false,
        store: other = store,
        days = 1,
        nowMs = Date.now() + days * dayMs,
        nc: by = nc,
      } = {},
    ) =>
      archiveOnce({
        nc: by,
        store: other,
        settings: {
          folder: to,
          withHashes,
          about: { title: 'Test', publisher: 'Test', licence: 'CC-BY-4.0' },
        },
        keccak,
        nowMs,
        isPart,
        stop: new AbortController().signal,
      }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
