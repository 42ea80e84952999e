/** Makes the streams and buckets that all processes share, and updates existing ones. */
import {
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node'
import { partitionCount } from '../../../core/air/sensor-id.ts'
import type { FormatLevel } from '../../../schemas/format-level.ts'
import { buckets, readingsStream } from '../../../schemas/subjects.ts'
import { systemKeys } from '../../../schemas/system-keys.ts'
import { MustAct, TryAgain } from '../../exit.ts'
import { settleFormatLevel } from '../format-level.ts'
import { findNetworkId, makeNetworkId } from '../network-id.ts'
import { asMade, changesOf, type Difference, differencesOf } from './compare-streams.ts'
import {
  type NamedStream,
  type StreamOptions,
  streamTable,
  tableHash,
  tableNumber,
} from './stream-table.ts'

/** Each is a folder and a sync on the server's disk, which may be busy. */
const createTimeoutMs = 10_000

/** What was done, or would be. */
export type StreamWork = {
  /** Streams that were missing; a bucket is the stream `KV_<bucket>`. */
  readonly made: readonly string[]
  readonly differences: readonly Difference[]
}

type Ensuring = StreamOptions & {
  /** The newest format level that this process knows. */
  readonly newest?: FormatLevel | undefined
}

/**
 * Idempotent; safe when several processes start at once.
 * @throws MustAct if the data were made with another number of partitions, or by a later version
 */
export async function ensureStreams(
  nc: NatsConnection,
  { newest, ...options }: Ensuring = {},
): Promise<StreamWork> {
  const manager = await jetstreamManager(nc, { timeout: createTimeoutMs })
  const table = streamTable(options)
  const system = await new Kvm(jetstream(nc, { timeout: createTimeoutMs })).open(buckets.system)
  // first of all, as this version must not touch what it does not know
  const isNew = (await configOf(manager, readingsStream)) === undefined
  const [first] = table
  const work = first === undefined ? [] : [await ensureStream(manager, first)]
  await pinPartitions(system, await settleFormatLevel(system, isNew, newest))
  await refuseLaterTable(system)
  await makeNetworkId(system)
  work.push(...(await Promise.all(table.slice(1).map((config) => ensureStream(manager, config)))))
  if ((await system.get(systemKeys.layout))?.string() !== layoutText())
    await system.put(systemKeys.layout, layoutText())
  return joined(work)
}

/** What `ensureStreams` would do. */
export async function compareStreams(
  nc: NatsConnection,
  options: StreamOptions = {},
): Promise<StreamWork> {
  const manager = await jetstreamManager(nc, { timeout: createTimeoutMs })
  const work = await Promise.all(
    streamTable(options).map(async (config): Promise<StreamWork> => {
      const current = await configOf(manager, config.name)
      return current === undefined
        ? { made: [config.name], differences: [] }
        : { made: [], differences: differencesOf(current, config) }
    }),
  )
  return joined(work)
}

const joined = (work: readonly StreamWork[]): StreamWork => ({
  made: work.flatMap(({ made }) => made),
  differences: work.flatMap(({ differences }) => differences),
})

async function ensureStream(manager: JetStreamManager, config: NamedStream): Promise<StreamWork> {
  const current = await configOf(manager, config.name)
  if (current === undefined) {
    // two processes may start at once: the second `add` with the same settings is a no-op
    await manager.streams.add(asMade(config))
    return { made: [config.name], differences: [] }
  }
  const changes = changesOf(current, config)
  if (changes !== undefined) await update(manager, config.name, changes)
  return { made: [], differences: differencesOf(current, config) }
}

/** @throws MustAct if the server refuses the change */
async function update(
  manager: JetStreamManager,
  name: string,
  changes: Partial<StreamConfig>,
): Promise<void> {
  try {
    await manager.streams.update(name, changes)
  } catch (cause) {
    if (!(cause instanceof JetStreamApiError)) throw cause
    const fields = Object.keys(changes).filter((field) => field !== 'metadata')
    throw new MustAct(
      `the server refuses to change ${fields.join(', ')} of stream ${name} (${cause.message}): \`airproof streams --dry-run\` shows the old and new values`,
      { cause },
    )
  }
}

/** undefined: the stream does not exist. */
async function configOf(
  manager: JetStreamManager,
  name: string,
): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config
  } catch (error) {
    if (!isNotThere(error)) throw error
    return undefined
  }
}

const isNotThere = (error: unknown): boolean =>
  error instanceof Error && /stream not found/.test(error.message)

/** KV `system`, key `layout`: the number of the table that the streams follow, and its hash. */
const layoutText = (): string => `${tableNumber} ${tableHash()}`

/** 0.1 wrote no such entry. */
async function readLayout(system: KV): Promise<{ readonly text: string; readonly number: number }> {
  const entry = await system.get(systemKeys.layout)
  const text = entry?.operation === 'PUT' ? entry.string() : ''
  return { text, number: /^\d+ /.test(text) ? Number.parseInt(text, 10) : 0 }
}

async function refuseLaterTable(system: KV): Promise<void> {
  const { number } = await readLayout(system)
  if (number > tableNumber)
    throw new MustAct(
      `the streams were made by a later version of airproof (table ${number}; this one has ${tableNumber}), so this one does not change them: run \`airproof streams\` of that version`,
    )
}

/**
 * For a process at its start. The operator (`airproof up`, `airproof streams`) makes and updates
 * streams and buckets; on an open server, the first process does. Those of a later version are used
 * as they are: it only adds to what this one needs.
 * @throws TryAgain if they are missing, and this user may not make them
 */
export async function needStreams(nc: NatsConnection, options: Ensuring = {}): Promise<void> {
  if (await areMade(nc)) return
  try {
    await ensureStreams(nc, options)
  } catch (error) {
    if (!isRefused(error)) throw error
    throw new TryAgain(
      'the streams of this version do not exist yet, and this NATS user may not make them: run `airproof streams` once as the user operator',
      { cause: error },
    )
  }
}

async function areMade(nc: NatsConnection): Promise<boolean> {
  try {
    const system = await new Kvm(nc).open(buckets.system)
    const { text, number } = await readLayout(system)
    if (text !== layoutText() && number <= tableNumber) return false
    return (await findNetworkId(system)) !== undefined
  } catch (error) {
    if (isNotThere(error)) return false
    throw error
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof PermissionViolationError ||
  (error instanceof Error && error.cause !== undefined && isRefused(error.cause))

/**
 * The number of partitions is part of every `seq`, so it can never change under existing data.
 * From level 2 on the entry holds more than the number, so that 0.1, which knows no levels, refuses
 * to start, with its message about another number.
 */
async function pinPartitions(system: KV, level: FormatLevel): Promise<void> {
  const entry = await system.get(systemKeys.partitions)
  const pinned = entry?.operation === 'PUT' ? entry.string() : undefined
  const count = pinned?.split(' ')[0]
  if (count !== undefined && count !== String(partitionCount))
    throw new MustAct(
      `this data was made with ${count} partitions and this version has ${partitionCount}: use the version that made it, or another AIRPROOF_DATA / NATS_URL`,
    )
  const text = partitionsText(level)
  if (pinned !== text && (pinned === undefined || level > 1))
    await system.put(systemKeys.partitions, text)
}

export const partitionsText = (level: FormatLevel): string =>
  level === 1
    ? String(partitionCount)
    : `${partitionCount} (formats of level ${level}: a later version of airproof)`
