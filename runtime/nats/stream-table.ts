/** Every stream and bucket of the system, as it should be. */
import { createHash } from 'node:crypto'
import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { shardCount } from '../../core/delivery/webhook-id.ts'
import { longestTopicMessage, readingTopics } from '../../core/device-topics.ts'
import { dayMs } from '../../core/time.ts'
import { longestRawMessage } from '../../schemas/log/raw-reading.ts'
import {
  againSubject,
  attemptsStream,
  auditStream,
  blobsStream,
  buckets,
  eventsStream,
  ledgerStream,
  mailStream,
  mailSubject,
  rawStream,
  rawSubject,
  readingsStream,
  readingsSubject,
  rejectedStream,
  stateStream,
  topicsStream,
} from '../../schemas/subjects.ts'
import { mqttStreams } from './mqtt-streams.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const toNanos = (ms: number): number => ms * 1_000_000

export type StreamOptions = {
  /** 1 for a single server, 3 for a cluster that survives the loss of one. */
  readonly replicas?: number
  /** The bound of each RAW stream; when it is full the sensor is told and keeps its reading. */
  readonly rawMaxBytes?: number
}

/** How long a lease outlives its last renewal. */
const leaseTtlMs = 10_000

/** Buckets whose entries go by themselves so long after they were written. */
const bucketTtlMs: Readonly<Record<string, number>> = {
  [buckets.leases]: leaseTtlMs,
  [buckets.sessions]: 30 * dayMs,
  [buckets.tokens]: dayMs,
  [buckets.quota]: 40 * dayMs,
}

/**
 * Bounds of buckets that strangers fill. A link is an entry of some 400 bytes: when
 * some 150,000 wait, the oldest go, and the one that was asked for just now stays.
 */
const bucketBounds: Readonly<Record<string, Partial<StreamConfig>>> = {
  [buckets.tokens]: { max_bytes: 64 * mebibyte, discard: DiscardPolicy.Old },
}

export type NamedStream = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

const bucketConfig = (name: string): NamedStream => ({
  name: bucketStream(name),
  subjects: [`$KV.${name}.>`],
  max_msgs_per_subject: 1,
  discard: DiscardPolicy.New,
  deny_delete: true,
  // A header of a message can empty the whole stream (`Nats-Rollup: all`), whatever the subjects are
  // that its sender may write: a process that has some keys of a bucket would take out all others.
  allow_rollup_hdrs: false,
  allow_direct: true,
  ...(bucketTtlMs[name] === undefined ? {} : { max_age: toNanos(bucketTtlMs[name]) }),
  ...bucketBounds[name],
})

/** A bucket is the stream of this name. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`

/** All of them, the bucket `system` first. */
export function streamTable({
  replicas = 1,
  rawMaxBytes = 512 * mebibyte,
}: StreamOptions = {}): readonly NamedStream[] {
  const shared = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
  }
  const names = [
    buckets.system,
    ...Object.values(buckets).filter((name) => name !== buckets.system),
  ]
  return [...names.map(bucketConfig), ...streamConfigs(rawMaxBytes, replicas)].map((config) => ({
    ...shared,
    ...config,
  }))
}

/**
 * Which table this is. **Every change of the table takes the next number** (a unit test holds the
 * two together): by it a process sees whether the streams were made by an older version, and must be
 * brought up to date, or by a later one, and are none of its business.
 */
export const tableNumber = 2

/** Of what the table says, without what is a setting. */
export const tableHash = (): string =>
  createHash('sha256')
    .update(JSON.stringify(streamTable({ rawMaxBytes: 0 })))
    .digest('hex')

/**
 * Of a stream into which no message's id is sent: the server keeps each id that a process sends in
 * memory for as long, so it is as short as the server allows.
 */
const withoutIds = { duplicate_window: toNanos(100) } as const

/**
 * Each subject has a wildcard: a consumer may be told to deliver to any subject, by whoever reads its
 * stream, and the server does so where somebody has subscribed to that very subject. A stream that
 * has a subject without a wildcard would take what it is sent so.
 */
function streamConfigs(rawMaxBytes: number, replicas: number): readonly NamedStream[] {
  const raws = Array.from({ length: partitionCount }, (_, partition) => ({
    name: rawStream(partition),
    subjects: [rawSubject(partition, '*'), againSubject(partition, '*')],
    max_bytes: rawMaxBytes,
    max_msg_size: longestRawMessage,
    discard: DiscardPolicy.New,
    allow_direct: true,
  }))
  const ledgers = Array.from({ length: shardCount }, (_, shard) => ({
    name: ledgerStream(shard),
    subjects: [`dw.${shard}.>`],
    ...withoutIds,
    allow_direct: true,
  }))
  return [
    ...raws,
    ...ledgers,
    ...mqttStreams,
    {
      name: attemptsStream,
      subjects: ['att.*'],
      ...withoutIds,
      max_age: toNanos(30 * dayMs),
      max_msgs_per_subject: 5_000,
      // a sync for each would limit how many deliveries a second there can be; replicas have none
      ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
      allow_direct: true,
    },
    {
      name: readingsStream,
      subjects: [readingsSubject('*')],
      ...withoutIds,
      discard: DiscardPolicy.New,
      deny_delete: true,
      allow_direct: true,
    },
    {
      name: eventsStream,
      subjects: ['air.events.>'],
      ...withoutIds,
      max_age: toNanos(30 * dayMs),
      allow_direct: true,
    },
    {
      // proofs are made from it for ever: what was written once is neither replaced nor taken out
      name: blobsStream,
      subjects: ['air.blob.>'],
      ...withoutIds,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      deny_delete: true,
      deny_purge: true,
      allow_direct: true,
    },
    {
      name: rejectedStream,
      subjects: ['air.rejected.>'],
      ...withoutIds,
      max_bytes: 1024 * mebibyte,
      max_msgs_per_subject: 1,
      allow_direct: true,
    },
    {
      // What waits is never pushed out: a caller that asks for one mail more is told that there is no
      // room. A mail has less than 6 KiB, so one lane that is full leaves a quarter of the bytes at least.
      // A mail for the same fact is found out by several processes: it is queued once.
      name: mailStream,
      subjects: [mailSubject],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      max_msgs_per_subject: 8_192,
      discard_new_per_subject: true,
      max_age: toNanos(7 * dayMs),
      max_bytes: 64 * mebibyte,
      max_msg_size: 6 * kibibyte,
      duplicate_window: toNanos(2 * dayMs),
    },
    {
      name: auditStream,
      subjects: ['audit.*'],
      ...withoutIds,
      max_age: toNanos(90 * dayMs),
      max_msgs_per_subject: 1_000,
      allow_direct: true,
    },
    {
      name: stateStream,
      subjects: ['air.state.>'],
      ...withoutIds,
      // the one before it, too: a foreign message must not be all that is there at a start
      max_msgs_per_subject: 2,
      allow_atomic: true,
      allow_direct: true,
    },
    {
      // such firmware keeps nothing itself: the newest matter most when the gate stays away
      name: topicsStream,
      subjects: [...readingTopics],
      ...withoutIds,
      retention: RetentionPolicy.Workqueue,
      max_age: toNanos(dayMs),
      max_bytes: 256 * mebibyte,
      max_msg_size: longestTopicMessage + kibibyte,
      // what they say is not acknowledged to them, and is durable as a reading a moment later
      ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
    },
  ]
}
