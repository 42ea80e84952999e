/** Creates, or finds as they should be, the streams and buckets every process meets on. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  DiscardPolicy,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node'
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
import { MustAct, TryAgain } from '../exit.ts'
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

/** Each is a folder and a sync on the server's disk, which may be busy. */
const createTimeoutMs = 10_000

/** How long a lease outlives its last renewal. */
export const leaseTtlMs = 10_000

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

/**
 * A header of a message can empty the whole stream (`Nats-Rollup: all`), whatever the subjects are
 * that its sender may write: a process that has some keys of a bucket would take out all others.
 */
const bucketRollUp = { allow_rollup_hdrs: false } as const

/**
 * Of a stream into which nobody sends a message's id: the server keeps each id that a process sends
 * in memory for as long, so it is as short as the server lets it be.
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
      // What waits is never pushed out: who asks for one mail more hears that there is no room. A mail
      // has less than 6 KiB, so one lane that is full leaves a quarter of the bytes at least.
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

type NamedStream = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

/** What bounds a stream; −1 and 0: it has no such bound. */
const bounds = ['max_bytes', 'max_msgs', 'max_msg_size', 'max_age'] as const
/** What it does when it is full. */
const whenFull = ['discard', 'max_msgs_per_subject', 'discard_new_per_subject'] as const

/** What a stream of an older version lacks. A bound that it has may be an operator's own: it stays. */
function changesOf(found: StreamConfig, config: NamedStream): Partial<StreamConfig> {
  const missing = bounds.filter((name) => (config[name] ?? 0) > 0 && (found[name] ?? 0) <= 0)
  const other = whenFull.filter((name) => (config[name] ?? found[name]) !== found[name])
  const isSame = isDeepStrictEqual(new Set(found.subjects), new Set(config.subjects))
  return {
    ...Object.fromEntries([...missing, ...other].map((name) => [name, config[name]])),
    ...(isSame ? {} : { subjects: [...config.subjects] }),
  }
}

async function ensureStream(manager: JetStreamManager, config: NamedStream): Promise<void> {
  try {
    const { config: found } = await manager.streams.info(config.name)
    const changes = changesOf(found, config)
    if (Object.keys(changes).length > 0) await manager.streams.update(config.name, changes)
  } catch (error) {
    if (!(error instanceof Error) || !/stream not found/.test(error.message)) throw error
    // two processes may start at once: the second `add` with the same settings is a no-op
    await manager.streams.add(config)
  }
}

/**
 * Idempotent; safe when several processes start at once.
 * @throws MustAct when the data were made with another number of partitions
 */
export async function ensureStreams(
  nc: NatsConnection,
  { replicas = 1, rawMaxBytes = 512 * mebibyte }: StreamOptions = {},
): Promise<void> {
  const manager = await jetstreamManager(nc, { timeout: createTimeoutMs })
  const shared = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
  }
  await Promise.all(
    streamConfigs(rawMaxBytes, replicas).map((config) =>
      ensureStream(manager, { ...shared, ...config }),
    ),
  )
  const kvm = new Kvm(jetstream(nc, { timeout: createTimeoutMs }))
  await Promise.all(
    Object.values(buckets).map(async (name) => {
      const bucket = await kvm.create(name, {
        replicas,
        history: 1,
        storage: StorageType.File,
        ...(bucketTtlMs[name] === undefined ? {} : { ttl: bucketTtlMs[name] }),
      })
      const { config } = (await bucket.status()).streamInfo
      if (config.allow_rollup_hdrs !== bucketRollUp.allow_rollup_hdrs)
        await manager.streams.update(config.name, bucketRollUp)
    }),
  )
  for (const [name, bounded] of Object.entries(bucketBounds))
    await ensureStream(manager, { name: `KV_${name}`, subjects: [`$KV.${name}.>`], ...bounded })
  const system = await kvm.open(buckets.system)
  await pinPartitions(system)
  if ((await system.get(layoutKey))?.string() !== layout) await system.put(layoutKey, layout)
}

/** KV `system`: which streams and buckets there are, of all that this version needs. */
const layoutKey = 'layout'
const layout = createHash('sha256')
  .update(JSON.stringify([streamConfigs(0, 1), buckets, bucketTtlMs, bucketBounds, bucketRollUp]))
  .digest('hex')

/**
 * What a process does at its start: streams and buckets are made by whoever may (`airproof up`, or
 * `airproof streams` as operator), on an open server by the first process to come.
 * @throws TryAgain they are not there, and this user may not make them
 */
export async function needStreams(nc: NatsConnection, options: StreamOptions = {}): Promise<void> {
  if (await isMade(nc)) return
  try {
    await ensureStreams(nc, options)
  } catch (error) {
    if (!isRefused(error)) throw error
    throw new TryAgain(
      'the streams of this version are not there yet, and this NATS user may not make them: run `airproof streams` once as the user operator',
      { cause: error },
    )
  }
}

async function isMade(nc: NatsConnection): Promise<boolean> {
  try {
    const system = await new Kvm(nc).open(buckets.system)
    return (await system.get(layoutKey))?.string() === layout
  } catch (error) {
    if (error instanceof Error && /stream not found/.test(error.message)) return false
    throw error
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof PermissionViolationError ||
  (error instanceof Error && error.cause !== undefined && isRefused(error.cause))

/** The number of partitions is part of every `seq`, so it can never change under existing data. */
async function pinPartitions(system: KV): Promise<void> {
  const expected = String(partitionCount)
  const found = (await system.get('partitions'))?.string()
  if (found === expected) return
  if (found === undefined) {
    await system.create('partitions', expected).catch(() => undefined)
    const settled = (await system.get('partitions'))?.string()
    if (settled === expected) return
  }
  throw new MustAct(
    `this data was made with ${found} partitions and this version has ${expected}: use the version that made it, or another AIRPROOF_DATA / NATS_URL`,
  )
}
