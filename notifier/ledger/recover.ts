/** How a shard's owner starts, always: the snapshot, then the log after it. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Cursors } from '../../core/delivery/delivery.ts'
import { createLedger, type Ledger, rebuildFreeSlots } from '../../core/delivery/ledger.ts'
import { MustAct } from '../../runtime/exit.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { lastMessage, nextMessage } from '../../runtime/nats/stored-message.ts'
import { readWal, type WalMessage } from '../../runtime/nats/wal-message.ts'
import { ledgerSnapSubject, ledgerStream, walSubject } from '../../schemas/subjects.ts'
import { areRecords, foldRecords, noCursors } from '../../schemas/webhooks/ledger-records.ts'
import type { Manifest } from '../../schemas/webhooks/ledger-snapshot.ts'
import { lastManifest } from './manifest.ts'

export type Recovered = {
  readonly ledger: Ledger
  /** The log's last message; 0 before the first. */
  readonly lastSeq: number
  /** When the broker stored it. */
  readonly lastTimeMs: number
  readonly cursors: Cursors
}

const tries = 5
/** Half a megabyte each. */
const chunksAtOnce = 4

/** @throws MustAct if the log lacks messages it once had, or a newer version wrote it */
export async function recoverLedger(nc: NatsConnection, shard: number): Promise<Recovered> {
  const stream = ledgerStream(shard)
  // the previous owner may be writing a newer snapshot, which deletes the one we are reading
  for (let i = 0; i < tries; i++) {
    const last = await lastMessage(nc, stream, walSubject(shard))
    const manifest = await lastManifest(nc, shard)
    const endSeq = last?.seq ?? 0
    const fromSeq = manifest?.walSeq ?? 0
    if (fromSeq > endSeq)
      throw new MustAct(
        `the ledger of shard ${shard} ends at ${endSeq}, but a snapshot is of message ${fromSeq}: ${stream} was purged or replaced; restore a backup`,
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
    // the first message: any later one on a chunk's subject is foreign
    nextMessage(nc, ledgerStream(shard), ledgerSnapSubject(shard, manifest.walSeq, chunk), 1)
  for (let i = 0; i < manifest.chunks; i += chunksAtOnce) {
    const count = Math.min(chunksAtOnce, manifest.chunks - i)
    const chunks = await Promise.all(Array.from({ length: count }, (_, k) => read(i + k)))
    for (const chunk of chunks) {
      if (chunk === undefined || !areRecords(chunk.data)) return false
      foldRecords(ledger, chunk.data)
    }
  }
  return true
}

type Span = { readonly fromSeq: number; readonly endSeq: number }

/** Folds the log after the snapshot. @returns the last message that is not foreign */
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
    const decoded = readWal(stream, message)
    if (decoded === undefined) continue
    last = decoded
    if (decoded.seq > fromSeq) foldRecords(ledger, decoded.data)
  }
  return last
}
