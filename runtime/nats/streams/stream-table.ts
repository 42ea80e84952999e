/** Every stream and bucket of the system, as it should be. */
import { createHash } from 'node:crypto'
import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { partitionCount } from '../../../core/air/sensor-id.ts'
import { shardCount } from '../../../core/delivery/webhook-id.ts'
import { longestTopicMessage, readingTopics } from '../../../core/device-topics.ts'
import { dayMs } from '../../../core/time.ts'
import { longestRawMessage } from '../../../schemas/log/raw-reading.ts'
import {
  againSubject,
  attemptsStream,
  auditStream,
  blobsStream,
  buckets,
  eventsStream,
  imagedBuckets,
  imageStream,
  imageSubjects,
  ledgerStream,
  mailStream,
  mailSubject,
  rawStream,
  rawSubject,
  readingsStream,
  readingsSubject,
  rejectedStream,
  requestsStream,
  stateStream,
  topicsStream,
} from '../../../schemas/subjects.ts'
import { mqttStreams } from './mqtt-streams.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const toNanos = (ms: number): number => ms * 1_000_000

export type StreamOptions = {
  /** 1 for a single server, 3 for a cluster that survives the loss of one. */
  readonly replicas?: number
  /** The bound of each RAW stream; if it is full, the sensor receives an error and keeps its reading. */
  readonly rawMaxBytes?: number
}

/** How long a lease outlives its last renewal. */
const leaseTtlMs = 10_000

/** Buckets whose entries expire, and how long after they were written. */
const bucketTtlMs: Readonly<Record<string, number>> = {
  [buckets.leases]: leaseTtlMs,
  [buckets.sessions]: 30 * dayMs,
  [buckets.tokens]: dayMs,
  [buckets.quota]: 40 * dayMs,
}

/**
 * Bounds of buckets that anonymous clients can fill. A link is an entry of some 400 bytes: if some
 * 150,000 wait, the oldest are deleted, and the newest stays.
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
  // A header of a message can empty the whole stream (`Nats-Rollup: all`), whatever subjects its
  // sender may write: a process with a right to some keys of a bucket could delete all others.
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
 * The number of the table. **Every change of the table takes the next number** (a unit test makes
 * sure): from it a process sees whether an older version made the streams, which it must then
 * update, or a later one, whose streams it leaves alone.
 */
export const tableNumber = 4

/** A hash of the table without its settings. */
export const tableHash = (): string =>
  createHash('sha256')
    .update(JSON.stringify(streamTable({ rawMaxBytes: 0 })))
    .digest('hex')

/**
 * For a stream whose messages have no id: the server keeps every id that a client sends in memory
 * for this time, so it is as short as the server allows.
 */
const withoutIds = { duplicate_window: toNanos(100) } as const

/**
 * Each subject has a wildcard: a client that may read a stream may have a consumer deliver to any
 * subject, and the server does so if there is a subscription to exactly that subject. A stream with
 * a subject without a wildcard would store what is delivered to it.
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
      // a sync per write would limit the deliveries per second; replicas do not sync
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
      // proofs are made from it: what was written is not replaced, and whole batches are deleted only when
      // the archive has them. Streams of 0.1 deny that, which the server does not let be changed.
      name: blobsStream,
      subjects: ['air.blob.>'],
      ...withoutIds,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      deny_delete: true,
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
      // A waiting mail is never evicted: a caller that sends one more receives an error. A mail has
      // less than 6 KiB, so one full lane leaves at least a quarter of the bytes. Several processes
      // may send a mail for the same fact: it is queued once.
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
      // a message has what one process answered an account within a second, 50 requests at most; the
      // bytes are a bound for all accounts together
      name: requestsStream,
      subjects: ['requests.*'],
      ...withoutIds,
      max_age: toNanos(7 * dayMs),
      max_msgs_per_subject: 100,
      max_bytes: 256 * mebibyte,
      max_msg_size: 64 * kibibyte,
      // a log for people: losing its last second in a crash is no loss
      ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
      allow_direct: true,
    },
    {
      name: stateStream,
      subjects: ['air.state.>'],
      ...withoutIds,
      // also the previous one: a foreign message must not be the only one at a start
      max_msgs_per_subject: 2,
      allow_atomic: true,
      allow_direct: true,
    },
    // each can be made again from its bucket
    ...imagedBuckets.map((bucket) => ({
      name: imageStream(bucket),
      subjects: [imageSubjects(bucket)],
      ...withoutIds,
      max_msgs_per_subject: 1,
      allow_direct: true,
    })),
    {
      // such firmware stores nothing itself: the newest matter most if the gate is unavailable for long
      name: topicsStream,
      subjects: [...readingTopics],
      ...withoutIds,
      retention: RetentionPolicy.Workqueue,
      max_age: toNanos(dayMs),
      max_bytes: 256 * mebibyte,
      max_msg_size: longestTopicMessage + kibibyte,
      // devices get no acknowledgement of these, and a moment later they are durable as readings
      ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
    },
  ]
}
