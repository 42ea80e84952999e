/**
 * Snapshots of a ledger: first the chunks, under the sequence of the log they represent, then the
 * manifest, then everything older is deleted. A process that dies half-way leaves chunks that no
 * manifest names.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { Cursors } from '../../core/delivery/delivery.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import {
  ledgerSnapSubject,
  ledgerStream,
  manifestSubject,
  walSubject,
} from '../../schemas/subjects.ts'
import { versionOf } from '../../schemas/webhooks/ledger-records.ts'
import {
  encodeManifest,
  type LedgerSnapshot,
  type Manifest,
} from '../../schemas/webhooks/ledger-snapshot.ts'
import { lastManifest } from './manifest.ts'
import type { WalContext } from './wal.ts'

export type SnapshotWriter = (
  snapshot: LedgerSnapshot,
  at: { readonly seq: number; readonly cursors: Cursors },
) => Promise<'written' | 'stale'>

export function ledgerSnapshotWriter(
  { nc, js }: Pick<WalContext, 'nc' | 'js'>,
  shard: number,
): SnapshotWriter {
  const stream = ledgerStream(shard)

  /** A stale owner must not put an old snapshot over a newer one. */
  const putManifest = async (manifest: Manifest): Promise<boolean> => {
    const last = await lastMessage(nc, stream, manifestSubject(shard))
    const newest = await lastManifest(nc, shard)
    if (newest !== undefined && newest.walSeq > manifest.walSeq) return false
    const write = js.publish(manifestSubject(shard), encodeManifest(manifest), {
      expect: { lastSubjectSequence: last?.seq ?? 0 },
    })
    return (await unlessOvertaken(write)) !== 'overtaken'
  }

  const purge = async (walSeq: number): Promise<void> => {
    const { streams } = await jetstreamManager(nc, { checkAPI: false })
    // up to the message of the snapshot, but not including it: the fence needs a last message
    await streams.purge(stream, { filter: walSubject(shard), seq: walSeq })
    const { state } = await streams.info(stream, { subjects_filter: `dw.${shard}.snap.>` })
    const old = new Set(
      Object.keys(state.subjects ?? {})
        .map((subject) => Number(subject.split('.')[3]))
        .filter((seq) => seq < walSeq),
    )
    for (const seq of old) await streams.purge(stream, { filter: `dw.${shard}.snap.${seq}.*` })
  }

  return async ({ chunks, records, level }, { seq, cursors }) => {
    for (const [i, chunk] of chunks.entries())
      await js.publish(ledgerSnapSubject(shard, seq, i), chunk)
    const version = versionOf(cursors, level)
    const manifest = { version, walSeq: seq, chunks: chunks.length, records, cursors }
    if (!(await putManifest(manifest))) return 'stale'
    await purge(seq)
    return 'written'
  }
}
