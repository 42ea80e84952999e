/**
 * Restores the streams of a backup into a NATS server that has none of them, then removes what they
 * hold beyond the point of the log (`copy-instance.ts`): other readings will have those numbers.
 */
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { StorePlace } from '../../runtime/machine/store-place.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { firstSince, messageAt, nextMessage } from '../../runtime/nats/stored-message.ts'
import { restoreStream } from '../../runtime/nats/streams/stream-copy.ts'
import { bucketStream } from '../../runtime/nats/streams/stream-table.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { batchKey, headerKey } from '../../schemas/anchoring/batch-record.ts'
import { parseEvent } from '../../schemas/log/event.ts'
import {
  anchoredSubject,
  blobsOfBatch,
  blobsStream,
  blobTileSubject,
  blobTopSubject,
  buckets,
  eventsStream,
  readingsStream,
} from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { neededByBackup } from './copy-instance.ts'
import { chunksOf } from './local-files.ts'
import { type Manifest, streamFile } from './manifest.ts'
import { lastSequence, logEnd, type Point } from './point.ts'

type PutBack = {
  readonly nc: NatsConnection
  readonly folder: string
  readonly manifest: Manifest
  readonly replicas: number
  /** Where the readings are now; undefined: where they were. */
  readonly store: StorePlace | undefined
  readonly note: (part: string) => void
}

const system = bucketStream(buckets.system)

/** @returns up to where the restored log goes, at least as far as the backup says */
export async function putBack(options: PutBack): Promise<Point> {
  const { nc, folder, manifest, replicas, store, note } = options
  // without `system` no process begins to work: it goes last
  const streams = manifest.streams.toSorted(
    (a, b) => Number(a.config.name === system) - Number(b.config.name === system),
  )
  for (const { config, state } of streams) {
    note(`stream ${config.name}`)
    const file = join(folder, streamFile(config.name))
    const here = { config: { ...config, num_replicas: replicas }, state }
    await restoreStream(nc, here, chunksOf(file))
    if (config.name === eventsStream) note('what is beyond the point of the log')
  }
  const lastSeq = await lastSequence(nc, readingsStream)
  await dropEventsAfter(nc, lastSeq, Date.parse(manifest.until.time))
  await dropBatchesNotDecided(nc)
  const kept = await new Kvm(nc).open(buckets.system)
  await kept.delete(neededByBackup)
  // of another store's rows, which may go on beyond the point
  await kept.delete(systemKeys.storeCopy)
  // a file that was moved is known by its rows
  if (store !== undefined && (store.kind === 'influx' || manifest.store === 'influx'))
    await kept.put(systemKeys.store, JSON.stringify(store))
  // what is not copied: leases, and the server's own for MQTT
  await ensureStreams(nc, { replicas })
  const { point } = await logEnd(nc, manifest.until.time)
  const last = lastSeq === 0 ? undefined : await messageAt(nc, readingsStream, lastSeq)
  const time = last && new Date(last.timeMs).toISOString()
  return time !== undefined && time > point.time ? { ...point, time } : point
}

/** Events of messages that the log does not hold: their ids will be those of other events. */
async function dropEventsAfter(
  nc: NatsConnection,
  lastSeq: number,
  sinceMs: number,
): Promise<void> {
  const manager = await jetstreamManager(nc)
  const first = await firstSince(nc, eventsStream, sinceMs - clocksApartMs)
  for (let seq = first; seq !== undefined; ) {
    const stored = await nextMessage(nc, eventsStream, '>', seq)
    if (stored === undefined) return
    const event = parseEvent(stored.data)
    if (typeof event !== 'string' && Number.parseInt(event.id, 10) > lastSeq)
      await manager.streams.deleteMessage(eventsStream, stored.seq)
    seq = stored.seq + 1
  }
}

/** The servers of a cluster. */
const clocksApartMs = 60_000

/**
 * Leaves and reports of batches whose range is not decided in `batches`: they will hold other readings,
 * and a leaf that is there is not replaced.
 */
async function dropBatchesNotDecided(nc: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(nc, { timeout: 60_000 })
  const kvm = new Kvm(nc)
  const [batches, proofs] = [await kvm.open(buckets.batches), await kvm.open(buckets.proofs)]
  const { num_subjects: entries = 0 } = (await manager.streams.info(bucketStream(buckets.batches)))
    .state
  let index = await firstWithout(entries, async (at) => await readEntry(batches, headerKey(at)))
  if ((await readEntry(batches, batchKey(index))) !== undefined) index++
  let reportedIndex = index
  for (; ; index++) {
    const subjects = [blobTileSubject(index, 0), blobTopSubject(index)]
    const found = await Promise.all(
      subjects.map((subject) => nextMessage(nc, blobsStream, subject, 1)),
    )
    const proof = await proofs.get(String(index))
    if (proof?.operation === 'PUT') await proofs.delete(String(index))
    if (found.every((message) => message === undefined) && proof === null) break
    await manager.streams.purge(blobsStream, { filter: blobsOfBatch(index) })
  }
  for (;;) {
    const reported = await nextMessage(nc, eventsStream, anchoredSubject(reportedIndex++), 1)
    if (reported === undefined) return
    await manager.streams.deleteMessage(eventsStream, reported.seq)
  }
}

/** Batches are sealed one after the other, so all before the last are there. @param most a bound */
async function firstWithout(most: number, read: (at: number) => Promise<unknown>): Promise<number> {
  let [from, to] = [1, most + 2]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if ((await read(middle)) === undefined) to = middle
    else from = middle + 1
  }
  return from
}
