/**
 * Copies a running instance, part by part. Each part is of another moment, and the order makes of them
 * what a crash would have left: something that every process can start from. The rule is that what
 * refers comes before what it refers to, and what is made from the log before the log:
 *
 * 1. pushes that wait on the gate's disk, TOPICS: what was moved on meanwhile is in RAW as well, and
 *    counts once;
 * 2. `system` (how far the store and the statistics are), `anchoring` (the sender's journal);
 * 3. STATE, the snapshots: they say how far the store was, and it is further now;
 * 4. the notifier's ledger, which says how far it has read EVENTS and READINGS;
 * 5. the database: it has no reading that the log lacks, as the log comes after it;
 * 6. the archive: it has no batch that `batches` lacks;
 * 7. the demonstration's chain and `batches`, at a moment when no batch is sealed: it holds no batch
 *    and no batch names a block that the other lacks. Then `proofs`, then BLOBS: where a header is, its
 *    leaves are;
 * 8. READINGS: up to the point that the backup is named after;
 * 9. RAW: all that is not judged at that point, so nothing that NATS acknowledged is lost;
 * 10. EVENTS and REJECTED: what was copied of the log into them. What they have beyond the point is
 *     removed when they are restored (`put-back.ts`);
 * 11. sensors, accounts, keys, webhooks and all else that nothing above is decided by.
 *
 * Nothing may be deleted that is only in a later part: READINGS is held by `needed.backup`, RAW is
 * looked at afterwards, and a round of retention makes the copy begin again.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import { catalogueFile } from '../../operate/archive/archive-layout.ts'
import { codeOf, TryAgain } from '../../runtime/exit.ts'
import { copyStream, type StreamCopy } from '../../runtime/nats/streams/stream-copy.ts'
import { bucketStream, streamTable } from '../../runtime/nats/streams/stream-table.ts'
import {
  attemptsStream,
  blobsStream,
  buckets,
  eventsStream,
  imagedBuckets,
  imageStream,
  ledgerStream,
  rawStream,
  readingsStream,
  rejectedStream,
  stateStream,
  topicsStream,
} from '../../schemas/subjects.ts'
import { neededKey, systemKeys } from '../../schemas/system-keys.ts'
import type { BackupFolder } from './backup-folder.ts'
import { chunksOf, filesIn, openFilesIn } from './local-files.ts'
import { type Manifest, streamFile } from './manifest.ts'
import { logEnd } from './point.ts'

export type Copying = {
  readonly nc: NatsConnection
  readonly folder: BackupFolder
  /** Copies the database. @returns false: rows were deleted meanwhile */
  readonly copyStore: () => Promise<boolean>
  readonly dataFolder: string
  /** undefined: it is left out, or there is none. */
  readonly archiveFolder: string | undefined
  /** Of the demonstration's chain; undefined: the chain is not ours to copy. */
  readonly chainState: (() => Promise<Uint8Array>) | undefined
  /** Names what is copied now. */
  readonly note: (part: string) => void
}

export type CopiedInstance = Pick<Manifest, 'until' | 'received_until' | 'streams'>

export const neededByBackup = neededKey('backup')
const allOf = (count: number, name: (index: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => name(index))

const registers = [
  buckets.sensors,
  buckets.accounts,
  buckets.emails,
  buckets.keys,
  buckets.passwords,
  buckets.tokens,
  buckets.credentials,
  buckets.applications,
  buckets.webhooks,
].map(bucketStream)

const tries = 5

/** @throws TryAgain it does not come to rest, MustAct NATS refuses a copy */
export async function copyInstance(copying: Copying): Promise<CopiedInstance> {
  await using _ = await holdLog(copying.nc)
  for (let tried = 1; tried <= tries; tried++) {
    const copied = await copyOnce(copying)
    if (copied !== undefined) return copied
    copying.note('data were deleted meanwhile: beginning again')
  }
  throw new TryAgain(
    'retention deletes data faster than they can be copied: make the backup at another hour',
  )
}

/** The log is not trimmed while it is copied; a killed backup holds it for seven days at most. */
async function holdLog(nc: NatsConnection): Promise<AsyncDisposable> {
  const system = await new Kvm(nc).open(buckets.system)
  const { first_seq: readings } = (await (await jetstreamManager(nc)).streams.info(readingsStream))
    .state
  await system.put(neededByBackup, JSON.stringify({ readings }))
  return { [Symbol.asyncDispose]: async () => await system.delete(neededByBackup) }
}

/** @returns undefined: something was deleted in between that is now in no part */
async function copyOnce(copying: Copying): Promise<CopiedInstance | undefined> {
  const { nc, folder, copyStore, dataFolder, archiveFolder, chainState, note } = copying
  const streams = new Map<string, StreamCopy>()
  const manager = await jetstreamManager(nc, { timeout: 10_000 })
  const missing: string[] = []
  const stateOf = async (stream: string) => (await manager.streams.info(stream)).state
  const copy = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      if (missing.includes(name)) continue
      note(`stream ${name}`)
      await folder.put(streamFile(name), async (sink) => {
        streams.set(name, await copyStream(nc, name, sink))
      })
    }
  }
  /** At one moment: again until none of them was changed meanwhile. */
  const copyStill = async (names: readonly string[], first = async () => {}): Promise<void> => {
    const here = names.filter((name) => !missing.includes(name))
    const ends = async (): Promise<string> =>
      JSON.stringify(
        await Promise.all(here.map(stateOf)).then((states) =>
          states.map(({ last_seq, messages }) => [last_seq, messages]),
        ),
      )
    for (let tried = 1; ; tried++) {
      const before = await ends()
      await first()
      await copy(...here)
      if (before === (await ends())) return
      if (tried === stillTries)
        throw new TryAgain(`${here.join(', ')} change all the time: make the backup again`)
    }
  }
  const table = streamTable().map(({ name }) => name)
  const there = new Set<string>()
  for await (const name of manager.streams.names()) there.add(name)
  missing.push(...table.filter((name) => !there.has(name)))

  const retention = await retentionNow(nc)
  for (const path of openFilesIn(dataFolder)) await copyFile(folder, dataFolder, path, 'files')
  await copy(topicsStream)
  await copyStill([bucketStream(buckets.system)])
  await copyStill([bucketStream(buckets.anchoring)])
  const held = (await stateOf(readingsStream)).first_seq
  await copy(stateStream, ...allOf(shardCount, ledgerStream), attemptsStream)
  note('database')
  if (!(await copyStore())) return undefined
  if (archiveFolder !== undefined) await copyArchive(folder, archiveFolder, note)
  await copyStill([bucketStream(buckets.batches)], async () => {
    if (chainState === undefined) return
    const state = await chainState()
    await folder.put('files/chain/state.json', ({ write }) => write(state))
  })
  await copyStill([bucketStream(buckets.proofs)])
  await copy(blobsStream)
  // what is committed before this moment is in the copy
  const end = await logEnd(nc)
  await copy(readingsStream)
  const received_until = new Date().toISOString()
  await copy(...allOf(partitionCount, rawStream))
  for (let partition = 0; partition < partitionCount; partition++) {
    const { first_seq: first } = await stateOf(rawStream(partition))
    if (first > (end.rawLast[partition] ?? 0) + 1) return undefined
  }
  await copy(eventsStream, rejectedStream)
  await copyStill(registers)
  const done = new Set([
    ...streams.keys(),
    bucketStream(buckets.leases),
    // they are made again, and one beside another copy of its bucket would be wrong
    ...imagedBuckets.map(imageStream),
  ])
  await copy(...table.filter((name) => !done.has(name) && !name.startsWith('$MQTT')))
  const isHeld = streams.get(readingsStream)?.state.first_seq === held
  if (!isHeld || (await retentionNow(nc)) !== retention) return undefined
  return { until: end.point, received_until, streams: [...streams.values()] }
}

const stillTries = 20

async function retentionNow(nc: NatsConnection): Promise<string> {
  const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.retention)
  return entry?.operation === 'PUT' ? entry.string() : ''
}

/**
 * The catalogue first: the files of readings that it lists never change. Tables and descriptions are
 * written again with each run, so all of it is copied again when there was one meanwhile.
 */
async function copyArchive(
  folder: BackupFolder,
  archive: string,
  note: (part: string) => void,
): Promise<void> {
  const catalogue = (): Promise<string> =>
    readFile(join(archive, catalogueFile), 'utf8').catch(() => '')
  for (let tried = 1; tried <= tries; tried++) {
    note('archive')
    const before = await catalogue()
    const paths = filesIn(archive, '.').map((path) => path.slice('./'.length))
    for (const path of [catalogueFile, ...paths.filter((name) => name !== catalogueFile)])
      if (!/(^|\/)(\.lock.*|.*\.new)$/.test(path)) await copyFile(folder, archive, path, 'archive')
    if (before === (await catalogue())) return
  }
  throw new TryAgain('the archive is written all the time: make the backup again')
}

/** Hard links are not made: a backup that shares its bytes with the original is lost with it. */
async function copyFile(
  folder: BackupFolder,
  from: string,
  path: string,
  to: string,
): Promise<void> {
  try {
    await folder.put(`${to}/${path}`, async ({ write }) => {
      for await (const chunk of chunksOf(join(from, path))) await write(chunk)
    })
  } catch (error) {
    // a segment of the spool that was sent meanwhile
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
