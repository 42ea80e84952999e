/** The state of everything, read from the streams and buckets that the processes share. */

import { setTimeout as wait } from 'node:timers/promises'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../core/air/sensor-id.ts'
import { formatIso } from '../core/iso-time.ts'
import { statusCounts } from '../core/state/presence.ts'
import { watchPacked } from '../runtime/nats/buckets/packed-bucket.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { readHeader } from '../runtime/nats/log-messages.ts'
import { seedStates } from '../runtime/nats/seed-states.ts'
import { lastMessage } from '../runtime/nats/stored-message.ts'
import {
  buckets,
  eventsStream,
  rawStream,
  readingsStream,
  readingsSubject,
  rejectedStream,
} from '../schemas/subjects.ts'
import { partitionLease, storedPrefix } from '../schemas/system-keys.ts'
import { type AnchorStatus, readAnchorStatus } from './anchor-status.ts'
import { type ArchiveStatus, readArchiveStatus } from './archive-status.ts'
import { readStatisticsStatus, type StatisticsStatus } from './statistics-status.ts'
import { unstoredOf } from './unstored.ts'
import { readWebhookStatus, type WebhookStatus } from './webhook-status.ts'

export type PartitionStatus = {
  readonly partition: number
  /** Raw messages that arrived, ever, and those of them not judged yet. */
  readonly raw: number
  readonly unjudged: number
  /** Readings accepted, ever. */
  readonly accepted: number
  /** The partition's last message in READINGS; 0: none yet. */
  readonly log_seq: number
  readonly log_time: string | null
  /** Readings of the log that the store does not hold; up to two seconds old. */
  readonly unstored: number
  /** The process that works on it; null: none does. */
  readonly worker: string | null
}

export type StatusReport = {
  readonly rates: {
    /** Over the time of this report, a second. */
    readonly raw: number
    readonly accepted: number
  }
  readonly readings: StreamStatus
  readonly events: StreamStatus
  readonly rejected: StreamStatus
  /**
   * As of the partitions' last snapshots, some seconds ago; `unheard` are registered, but never
   * sent.
   */
  readonly sensors: {
    readonly registered: number
    readonly online: number
    readonly offline: number
    readonly unheard: number
  }
  readonly webhooks: WebhookStatus
  readonly anchor: AnchorStatus
  readonly archive: ArchiveStatus | null
  readonly statistics: StatisticsStatus
  readonly partitions: readonly PartitionStatus[]
}

type StreamStatus = { readonly last_seq: number; readonly messages: number; readonly bytes: number }

export async function readStatus(
  nc: NatsConnection,
  { lookMs }: { readonly lookMs: number },
): Promise<StatusReport> {
  const manager = await jetstreamManager(nc)
  const startedMs = performance.now()
  const before = await readPartitions(nc, manager)
  const [readings, events, rejected, sensors, webhooks] = await Promise.all([
    streamStatus(manager, readingsStream),
    streamStatus(manager, eventsStream),
    streamStatus(manager, rejectedStream),
    readSensors(nc),
    readWebhookStatus(nc),
  ])
  await wait(Math.max(0, lookMs - (performance.now() - startedMs)))
  const partitions = await readPartitions(nc, manager)
  const seconds = (performance.now() - startedMs) / 1_000
  const rate = (field: 'raw' | 'accepted'): number =>
    Math.round((sum(partitions, field) - sum(before, field)) / seconds)
  return {
    rates: { raw: rate('raw'), accepted: rate('accepted') },
    readings,
    events,
    rejected,
    sensors,
    webhooks,
    anchor: await readAnchorStatus(nc, sum(partitions, 'accepted')),
    archive: await readArchiveStatus(nc),
    statistics: await readStatisticsStatus(nc),
    partitions,
  }
}

const sum = (partitions: readonly PartitionStatus[], field: 'raw' | 'accepted'): number =>
  partitions.reduce((total, partition) => total + partition[field], 0)

async function readPartitions(
  nc: NatsConnection,
  manager: JetStreamManager,
): Promise<readonly PartitionStatus[]> {
  const [workers, stored] = await Promise.all([readWorkers(nc), readStored(nc)])
  return await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const [raw, last] = await Promise.all([
        manager.streams.info(rawStream(partition)),
        lastMessage(nc, readingsStream, readingsSubject(partition)),
      ])
      const header = last && readHeader(last.subject, last.headers)
      return {
        partition,
        raw: raw.state.last_seq,
        unjudged: Math.max(0, raw.state.last_seq - (header?.rawLast ?? 0)),
        accepted: header?.nLast ?? 0,
        log_seq: last?.seq ?? 0,
        log_time: last === undefined ? null : formatIso(last.timeMs),
        unstored: await unstoredOf(nc, {
          partition,
          lastSeq: last?.seq ?? 0,
          n: header?.nLast ?? 0,
          storedSeq: stored.get(partition) ?? 0,
        }).then(({ readings: unstored }) => unstored),
        worker: workers[partition] ?? null,
      }
    }),
  )
}

/** KV `leases`: which process works on which partition now. */
async function readWorkers(nc: NatsConnection): Promise<readonly (string | null)[]> {
  const kv = await new Kvm(nc).open(buckets.leases)
  return await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const entry = await kv.get(partitionLease(partition))
      return entry?.operation === 'PUT' ? entry.string() : null
    }),
  )
}

/** KV `system`, `stored.*`: how far the store holds the log, as each pipeline process reports. */
async function readStored(nc: NatsConnection): Promise<ReadonlyMap<number, number>> {
  const stored = new Map<number, number>()
  await using reports = await watchBucket(nc, buckets.system, (value, key) =>
    key.startsWith(storedPrefix) && typeof value === 'object' && value !== null ? value : undefined,
  )
  for (const [, positions] of reports.entries())
    for (const [partition, position] of Object.entries(positions))
      stored.set(Number(partition), Math.max(Number(position), stored.get(Number(partition)) ?? 0))
  return stored
}

async function readSensors(nc: NatsConnection): Promise<StatusReport['sensors']> {
  await using registry = await watchPacked(nc, buckets.sensors, {
    parse: (value) => (typeof value === 'object' && value !== null ? value : undefined),
    onNotice: () => undefined,
  })
  const { states } = await seedStates(nc, 0)
  let online = 0
  let offline = 0
  for (const state of states) {
    const counts = statusCounts(state)
    // a held sensor has been silent, but a storm delays its report
    online += counts.online + counts.held
    offline += counts.offline
  }
  const naming = [...registry.entriesNaming('retired_at')]
  const retired = naming.filter(([, entry]) => 'retired_at' in entry).length
  const registered = registry.size() - retired
  return { registered, online, offline, unheard: Math.max(0, registered - online - offline) }
}

async function streamStatus(manager: JetStreamManager, stream: string): Promise<StreamStatus> {
  const { state } = await manager.streams.info(stream)
  return { last_seq: state.last_seq, messages: state.messages, bytes: state.bytes }
}
