/**
 * How a shard's owner starts: it reads the ledger and claims it by writing a record. From then on
 * the previous owner cannot write any more.
 */

import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Cursors, LedgerRecord } from '../core/delivery/delivery.ts'
import { TryAgain } from '../runtime/exit.ts'
import { eventsStream } from '../schemas/subjects.ts'
import { type Recovered, recoverLedger } from './ledger/recover.ts'
import { ledgerSnapshotWriter } from './ledger/snapshot.ts'
import { snapshotKeeper } from './ledger/snapshot-keeper.ts'
import { openWal } from './ledger/wal.ts'
import type { ShardContext, ShardLedger } from './shard-work.ts'

export type Claimed = ShardLedger & {
  readonly cursors: Cursors
  /** Everything that is matched was stored before this time; ms of the broker. */
  readonly matchedByMs: number
  /** Sets what receives records once they are durable, in the order they were added. */
  readonly onDurable: (fold: (records: readonly LedgerRecord[]) => void) => void
}

/** @throws TryAgain if another process owns the shard, or we were stopped */
export async function claimShard(
  context: ShardContext,
  shard: number,
  stop: AbortSignal,
): Promise<Claimed> {
  const { nc, logger, metrics } = context
  const recovered = await recoverLedger(nc, shard)
  const { ledger, lastSeq } = recovered
  const nowMs = context.clock(recovered.lastTimeMs)
  const cursors = await firstCursors(nc, recovered, context.book.size())
  let fold: (records: readonly LedgerRecord[]) => void = () => undefined
  const wal = openWal({
    ...context,
    shard,
    lastSeq,
    cursors,
    onCommitted: (records, seconds) => {
      metrics.commit.observe(seconds)
      fold(records)
      snapshots.folded(records.length)
    },
  })
  const snapshots = snapshotKeeper({
    ledger,
    position: wal.position,
    write: ledgerSnapshotWriter(context, shard),
    startMs: performance.now(),
    onFailure: (error) => logger.warn({ err: error, shard }, 'snapshot: trying again later'),
  })
  if (stop.aborted) throw new TryAgain(`stopped before shard ${shard} was claimed`)
  // a process that slept since it took the lease would append to what the next owner wrote
  if (await context.isTaken(shard))
    throw new TryAgain(`shard ${shard} was taken before it was claimed: starting again`)
  wal.add([{ type: 'epoch', atMs: nowMs() }])
  await wal.settled()
  if (wal.position().seq <= lastSeq) throw new TryAgain(`shard ${shard} could not be claimed`)
  return {
    ledger,
    wal,
    snapshots,
    nowMs,
    cursors,
    matchedByMs: recovered.lastTimeMs || Number.POSITIVE_INFINITY,
    onDurable: (next) => void (fold = next),
  }
}

/**
 * A ledger never written to, with no webhooks, starts at the end of EVENTS: nothing before counts.
 */
async function firstCursors(
  nc: NatsConnection,
  { lastSeq, cursors }: Recovered,
  webhooks: number,
): Promise<Cursors> {
  if (lastSeq > 0 || webhooks > 0) return cursors
  const { streams } = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await streams.info(eventsStream)
  return { ...cursors, events: state.last_seq }
}
