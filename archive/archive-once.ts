/** Takes the archive one run further, if there is anything to archive. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { dayMs, floorTo } from '../core/time.ts'
import { type Catalogue, type CatalogueRun, noCatalogue } from '../operate/archive/catalogue.ts'
import { removeLeftovers } from '../operate/archive/put-file.ts'
import { readCatalogue } from '../operate/archive/read-catalogue.ts'
import { readNetworkId } from '../runtime/nats/network-id.ts'
import { firstSince } from '../runtime/nats/stored-message.ts'
import { encodeLogCursor } from '../schemas/log/log-cursor.ts'
import { readingsStream } from '../schemas/subjects.ts'
import type { Store } from '../store/store.ts'
import type { ArchiveConfig } from './config.ts'
import { withFolderLock } from './folder-lock.ts'
import { makeRun } from './make-run.ts'
import { nextBatches } from './next-batches.ts'
import { touchedDays } from './touched-days.ts'
import { writeCatalogue } from './write-catalogue.ts'
import { writeTables } from './write-tables.ts'

export type ArchiveOptions = {
  readonly nc: NatsConnection
  readonly store: Store
  readonly settings: Pick<ArchiveConfig, 'folder' | 'withHashes' | 'about'>
  readonly keccak: Keccak
  readonly nowMs: number
  /** Take what is final, though the day is not over. */
  readonly isPart: boolean
  readonly stop: AbortSignal
}

export type Archived = { readonly catalogue: Catalogue; readonly made: CatalogueRun | undefined }

/**
 * The catalogue is the only state: a process that dies anywhere before its rename has published
 * nothing, and the next one makes the same run again.
 * @throws MustAct if the store does not hold what was anchored
 */
export async function archiveOnce(options: ArchiveOptions): Promise<Archived> {
  const { folder } = options.settings
  return await withFolderLock(folder, async () => await archiveAlone(options))
}

async function archiveAlone(options: ArchiveOptions): Promise<Archived> {
  const { nc, store, settings, keccak, nowMs, isPart, stop } = options
  const { folder, withHashes, about } = settings
  const former = (await readCatalogue(folder)) ?? { ...noCatalogue, ...about }
  const today = floorTo(nowMs, dayMs)
  const isDone = former.complete_until !== null && Date.parse(former.complete_until) >= today
  if (isDone && !isPart) return { catalogue: former, made: undefined }
  const closing = await closingSequence(nc, today)
  const wanted = { end: former.end, closing, isPart }
  const batches = await nextBatches(nc, wanted, keccak)
  if (batches === undefined) return { catalogue: former, made: undefined }
  const run = (former.runs.at(-1)?.run ?? 0) + 1
  await removeLeftovers(folder, run - 1)
  const { headers } = batches
  const made = await makeRun({
    folder,
    run,
    before: former.end,
    batches,
    store,
    daysOf: (isOfRun) => touchedDays({ nc, store, headers, isOfRun, stop }),
    withHashes,
    keccak,
    stop,
  })
  const tables = await writeTables({ nc, store, folder, former, made, nowMs, stop })
  const { position, n } = made.after
  const complete_until = batches.isComplete ? formatIso(today) : former.complete_until
  const catalogue = {
    ...about,
    complete_until,
    end: made.after,
    cursor: encodeLogCursor({ version: 1, network: await readNetworkId(nc), position, n }),
    runs: [...former.runs, made],
    tables,
  }
  stop.throwIfAborted()
  await writeCatalogue(folder, catalogue)
  return { catalogue, made }
}

/** Everything that was accepted before the day has a smaller one. */
async function closingSequence(nc: NatsConnection, dayStartMs: number): Promise<number> {
  const first = await firstSince(nc, readingsStream, dayStartMs)
  if (first !== undefined) return first
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(readingsStream)
  return state.last_seq + 1
}
