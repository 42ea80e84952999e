/** Where a shard's owner begins: the snapshot and the log after it. It is the only way to begin. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Cursors } from '../../core/delivery/delivery.ts'
import { createLedger, type Ledger, rebuildFreeSlots } from '../../core/delivery/ledger.ts'
import { MustAct } from '../../runtime/exit.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { lastMessage, nextMessage } from '../../runtime/nats/stored-message.ts'
import { readWal, type WalMessage } from '../../runtime/nats/wal-message.ts'
import { ledgerSnapSubject, ledgerStream, walSubject } from '../../schemas/subjects.ts'
import { areRecords, foldRecords } from '../../schemas/webhooks/ledger-records.ts'
import type { Manifest } from '../../schemas/webhooks/ledger-snapshot.ts'
import { noCursors } from '../../schemas/webhooks/ledger-version.ts'
import { lastManifest } from './manifest.ts'

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

/** @throws MustAct where the log lacks messages that were in it once, or a newer version wrote it */
export async function recoverLedger(nc: NatsConnection, shard: number): Promise<Recovered> {
  const stream = ledgerStream(shard)
  // the owner before us may be putting in a newer snapshot: the one we read is then gone
  for (let i = 0; i < tries; i++) {
    const last = await lastMessage(nc, stream, walSubject(shard))
    const manifest = await lastManifest(nc, shard)
    const endSeq = last?.seq ?? 0
    const fromSeq = manifest?.walSeq ?? 0
    if (fromSeq > endSeq)
      throw new MustAct(
        `the ledger of shard ${shard} ends at ${endSeq}, but a snapshot knows message ${fromSeq}: ${stream} was purged or replaced; restore a backup`,
      )
    const ledger = createLedger()
    if (manifest !== undefined && !(await readChunks(nc, shard, manifest, ledger))) continue
    const end = last && (await foldLog(nc, shard, ledger, { fromSeq, endSeq }))
    rebuildFreeSlots(ledger)
    return {
      ledger,
      lastSeq: end?.seq ?? 0,
      lastTimeMs: last?.timeMs ?? 0,
      cursors: end?.cursors ?? manifest?.cursors ?? noCursors,
    }
  }
  throw new MustAct(`the snapshot of shard ${shard} lacks chunks: ${stream} was damaged`)
}

async function readChunks(
  nc: NatsConnection,
  shard: number,
  manifest: Manifest,
  ledger: Ledger,
): Promise<boolean> {
  const read = (chunk: number) =>
    // the first: what came to the subject of a chunk after it is foreign
    nextMessage(nc, ledgerStream(shard), ledgerSnapSubject(shard, manifest.walSeq, chunk), 1)
  for (let i = 0; i < manifest.chunks; i += chunksAtOnce) {
    const count = Math.min(chunksAtOnce, manifest.chunks - i)
    const found = await Promise.all(Array.from({ length: count }, (_, k) => read(i + k)))
    for (const chunk of found) {
      if (chunk === undefined || !areRecords(chunk.data)) return false
      foldRecords(ledger, chunk.data)
    }
  }
  return true
}

type Span = { readonly fromSeq: number; readonly endSeq: number }

/** Folds what is after the snapshot. @returns the last message that is not foreign */
async function foldLog(
  nc: NatsConnection,
  shard: number,
  ledger: Ledger,
  { fromSeq, endSeq }: Span,
): Promise<WalMessage | undefined> {
  const stream = ledgerStream(shard)
  const span = { subjects: [walSubject(shard)], fromSeq, endSeq }
  let last: WalMessage | undefined
  for await (const message of readUpTo(nc, stream, span)) {
    const found = readWal(stream, message)
    if (found === undefined) continue
    last = found
    if (found.seq > fromSeq) foldRecords(ledger, found.data)
  }
  return last
}
