/** Where a shard's owner begins: the snapshot and the log behind it. It is the only way to begin. */
import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createLedger, type Ledger, rebuildFreeSlots } from '../core/ledger.ts'
import { MustAct } from '../runtime/exit.ts'
import { lastMessage, type Stored } from '../runtime/stored-message.ts'
import { foldRecords } from '../schemas/ledger-records.ts'
import { type Manifest, parseManifest } from '../schemas/ledger-snapshot.ts'
import {
  ledgerSnapSubject,
  ledgerStream,
  manifestSubject,
  walHeaders,
  walSubject,
} from '../schemas/subjects.ts'
import type { Cursors } from './wal.ts'

export type Recovered = {
  readonly ledger: Ledger
  /** The log's last message; 0 before the first. */
  readonly lastSeq: number
  /** The broker's time of it. */
  readonly lastTimeMs: number
  readonly cursors: Cursors
}

const tries = 5
/** Half a megabyte each. */
const chunksAtOnce = 4

/** @throws MustAct where the log lacks messages that were in it once */
export async function recoverLedger(nc: NatsConnection, shard: number): Promise<Recovered> {
  const stream = ledgerStream(shard)
  // the owner before us may be putting in a newer snapshot: the one we read is then gone
  for (let i = 0; i < tries; i++) {
    const last = await lastMessage(nc, stream, walSubject(shard))
    const stored = await lastMessage(nc, stream, manifestSubject(shard))
    const manifest = stored && parseManifest(stored.data)
    if (stored !== undefined && manifest === undefined)
      throw new MustAct(`the snapshot of shard ${shard} was written by a newer version`)
    const lastSeq = last?.seq ?? 0
    const fromSeq = manifest?.walSeq ?? 0
    if (fromSeq > lastSeq)
      throw new MustAct(
        `the ledger of shard ${shard} ends at ${lastSeq}, but a snapshot knows message ${fromSeq}: ${stream} was purged or replaced; restore a backup`,
      )
    const ledger = createLedger()
    if (manifest !== undefined && !(await readChunks(nc, shard, manifest, ledger))) continue
    if (lastSeq > fromSeq) await foldLog(nc, shard, ledger, fromSeq, lastSeq)
    rebuildFreeSlots(ledger)
    return {
      ledger,
      lastSeq,
      lastTimeMs: last?.timeMs ?? 0,
      cursors: cursorsOf(last, manifest),
    }
  }
  throw new MustAct(`the snapshot of shard ${shard} lacks chunks: ${stream} was damaged`)
}

function cursorsOf(last: Stored | undefined, manifest: Manifest | undefined): Cursors {
  const number = (name: string): number => Number(last?.headers?.get(name) || 0)
  return last === undefined
    ? { events: manifest?.events ?? 0, readings: manifest?.readings ?? 0 }
    : { events: number(walHeaders.events), readings: number(walHeaders.readings) }
}

async function readChunks(
  nc: NatsConnection,
  shard: number,
  manifest: Manifest,
  ledger: Ledger,
): Promise<boolean> {
  const { direct } = await jetstreamManager(nc, { checkAPI: false })
  const read = (chunk: number) =>
    direct.getMessage(ledgerStream(shard), {
      last_by_subj: ledgerSnapSubject(shard, manifest.walSeq, chunk),
    })
  for (let i = 0; i < manifest.chunks; i += chunksAtOnce) {
    const count = Math.min(chunksAtOnce, manifest.chunks - i)
    const found = await Promise.all(Array.from({ length: count }, (_, k) => read(i + k)))
    for (const chunk of found) {
      if (chunk === null) return false
      foldRecords(ledger, chunk.data)
    }
  }
  return true
}

/** The log behind the snapshot. @throws MustAct where it begins too late */
async function foldLog(
  nc: NatsConnection,
  shard: number,
  ledger: Ledger,
  fromSeq: number,
  lastSeq: number,
): Promise<void> {
  const consumer = await jetstream(nc).consumers.get(ledgerStream(shard), {
    filter_subjects: [walSubject(shard)],
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, fromSeq),
  })
  const messages = await consumer.consume({ max_messages: 200 })
  try {
    for await (const message of messages) {
      if (message.seq > fromSeq) foldRecords(ledger, message.data)
      if (message.seq >= lastSeq) return
    }
  } finally {
    await messages.close()
  }
}
