/**
 * How far the readers of the log's streams are behind, in sequences of the stream that they read.
 */

import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { sourceRows } from '../core/delivery/event-kinds.ts'
import { shardCount } from '../core/delivery/webhook-id.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { lastMessage } from '../runtime/nats/stored-message.ts'
import {
  buckets,
  eventsStream,
  ledgerStream,
  mailStream,
  readingsStream,
  walSubject,
} from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'

export type StageLags = {
  /** Messages of READINGS that the area statistics have not read; null: they never ran. */
  readonly statistics: number | null
  /** Events that the notifier has not matched: the worst of its shards; null: it never ran. */
  readonly unmatched: number | null
  /** Mails that are not sent yet. */
  readonly mails: number
}

export async function readStageLags(nc: NatsConnection): Promise<StageLags> {
  const manager = await jetstreamManager(nc)
  const [readings, events, mails] = await Promise.all(
    [readingsStream, eventsStream, mailStream].map(
      async (name) => (await manager.streams.info(name)).state,
    ),
  )
  const [statistics, matched] = await Promise.all([
    readStatisticsPosition(nc),
    Promise.all(Array.from({ length: shardCount }, (_, shard) => readMatched(nc, shard))),
  ])
  const positions = matched.filter((position) => position !== undefined)
  const lag = (last: number | undefined, position: number | undefined): number | null =>
    position === undefined ? null : Math.max(0, (last ?? 0) - position)
  return {
    statistics: lag(readings?.last_seq, statistics),
    unmatched: lag(events?.last_seq, positions.length === 0 ? undefined : Math.min(...positions)),
    mails: mails?.messages ?? 0,
  }
}

async function readStatisticsPosition(nc: NatsConnection): Promise<number | undefined> {
  const kv = await new Kvm(nc).open(buckets.system)
  const record = await readEntry(kv, systemKeys.rollup)
  if (typeof record !== 'object' || record === null || !('position' in record)) return undefined
  return typeof record.position === 'number' ? record.position : undefined
}

/** EVENTS sequence up to which a shard of the notifier has matched. */
async function readMatched(nc: NatsConnection, shard: number): Promise<number | undefined> {
  const last = await lastMessage(nc, ledgerStream(shard), walSubject(shard))
  const position = last?.headers?.get(sourceRows.events.header)
  return position === undefined || position === '' ? undefined : Number(position)
}
