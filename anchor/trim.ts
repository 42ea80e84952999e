/**
 * READINGS is cut off before what is still needed. Kept is everything that is not in a final anchor,
 * what some projection has still to read, and in any case each partition's last message of the log:
 * without it the partition's fence would be gone and its numbers would begin again.
 *
 * A process that reads the log late (the notifier) writes so into bucket `system`, key `needed.<name>`:
 * `{"readings": n}`, the oldest sequence that it still reads, or null. That holds a message back for
 * seven days and no longer, whatever the key holds and whether or not its process still runs.
 *
 * What no process needs any more is kept for clients, which continue from a cursor (`/v1/changes`, the
 * stream): for some hours, within some bytes. That only ever keeps more than the rules above.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../core/air/sensor-id.ts'
import { dayMs } from '../core/time.ts'
import { currentValues } from '../runtime/nats/buckets/last-values.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { logReader } from '../runtime/nats/log-messages.ts'
import { readSnapshot } from '../runtime/nats/read-snapshot.ts'
import { firstSince, lastMessage, nextMessage } from '../runtime/nats/stored-message.ts'
import { buckets, readingsStream, readingsSubject } from '../schemas/subjects.ts'
import { neededPrefix, systemKeys } from '../schemas/system-keys.ts'

export type PartitionPosition = {
  /** Sequence of its last message of the log; undefined: it never had one. */
  readonly last: number | undefined
  /** What the next worker starts from; undefined: it reads the whole log. */
  readonly snapshot:
    | { readonly seq: number; readonly store: number; readonly lateTo: number }
    | undefined
}

export type TrimBounds = {
  /** The last sequence that a final anchor holds. */
  readonly finalLast: number
  readonly partitions: readonly PartitionPosition[]
  /** The statistics have read up to here. */
  readonly rollUp: number
  /** Oldest sequences that others still read. */
  readonly needs: readonly number[]
  /** The first message that is young enough to be kept for others. */
  readonly needsFrom: number
  /** The first message that is kept for clients. */
  readonly clientsFrom: number
}

/** What is kept for clients. */
export type KeptForClients = { readonly forMs: number; readonly bytes: number }

/** How long a message is kept for `needed.*`. */
export const neededForMs = 7 * dayMs

/** @returns the oldest sequence to keep */
export function keepFrom(bounds: TrimBounds): number {
  const { finalLast, partitions, rollUp, needs, needsFrom, clientsFrom } = bounds

  const perPartition = partitions.flatMap(({ last, snapshot }) => {
    if (last === undefined) return []
    if (snapshot === undefined) return [1]
    const done = Math.min(snapshot.seq, snapshot.store, snapshot.lateTo)
    return [last, done + 1]
  })
  const needed = needs.map((need) => Math.max(need, needsFrom))
  return Math.min(finalLast + 1, rollUp + 1, clientsFrom, ...needed, ...perPartition)
}

type Held = Readonly<Record<'first_seq' | 'last_seq' | 'bytes', number>>

/**
 * The first message that is within the bytes, if all are of one size: a round that kept too much is
 * followed by another one.
 */
export function fromBytes({ first_seq, last_seq, bytes }: Held, most: number): number {
  if (bytes <= most) return first_seq
  return first_seq + Math.ceil(((bytes - most) / bytes) * (last_seq - first_seq + 1))
}

type TrimmerOptions = {
  readonly nc: NatsConnection
  /** Bucket `system`. */
  readonly system: KV
  /** The last sequence that a final anchor holds now; 0: none does. */
  readonly finalLast: () => number
  readonly nowMs: () => number
  readonly kept: KeptForClients
}

/**
 * Trims once each time it is called, up to what was final the time before. So a process that begins to
 * read when a batch is final (source `anchored` of the notifier) has the time between two rounds to
 * say that it does.
 * @returns the oldest sequence that is kept now; undefined: nothing was trimmed
 */
export function createTrimmer({
  nc,
  system,
  finalLast,
  nowMs,
  kept,
}: TrimmerOptions): () => Promise<number | undefined> {
  let before = 0
  return async () => {
    const trimmable = before
    before = finalLast()
    if (trimmable === 0) return undefined
    return await trimLog(nc, system, { finalLast: trimmable, nowMs: nowMs(), kept })
  }
}

type Trimming = {
  readonly finalLast: number
  readonly nowMs: number
  readonly kept: KeptForClients
}

/** @returns the oldest sequence that is kept now */
export async function trimLog(
  nc: NatsConnection,
  system: KV,
  { finalLast, nowMs, kept }: Trimming,
): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(readingsStream)
  if (finalLast < state.first_seq) return state.first_seq
  const partitions = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => positionOf(nc, partition)),
  )
  const since = async (ms: number): Promise<number> =>
    (await firstSince(nc, readingsStream, nowMs - ms)) ?? state.last_seq + 1
  const from = keepFrom({
    finalLast,
    partitions,
    rollUp: numberIn(await readEntry(system, systemKeys.rollup), 'position') ?? 0,
    needs: await readNeeds(nc, system),
    needsFrom: await since(neededForMs),
    clientsFrom: Math.max(await since(kept.forMs), fromBytes(state, kept.bytes)),
  })
  if (from <= state.first_seq) return state.first_seq
  await manager.streams.purge(readingsStream, { seq: from })
  return from
}

async function positionOf(nc: NatsConnection, partition: number): Promise<PartitionPosition> {
  // the snapshot first: a message that comes meanwhile only makes us keep more
  const snapshot = await readSnapshot(nc, partition)
  return {
    last: await lastOfLog(nc, partition, snapshot?.state.readingsSeq ?? 0),
    snapshot: snapshot && {
      seq: snapshot.state.readingsSeq,
      store: snapshot.positions.store,
      lateTo: snapshot.state.lateTo,
    },
  }
}

/** The partition's last message that is not foreign. @param known one of the log, 0: none is known */
async function lastOfLog(
  nc: NatsConnection,
  partition: number,
  known: number,
): Promise<number | undefined> {
  const read = logReader(nc)
  const subject = readingsSubject(partition)
  const last = await lastMessage(nc, readingsStream, subject)
  if (last === undefined) return undefined
  if ((await read(last)) !== undefined) return last.seq
  let found = known
  for (let seq = known + 1; seq < last.seq; ) {
    const stored = await nextMessage(nc, readingsStream, subject, seq)
    if (stored === undefined) break
    if ((await read(stored)) !== undefined) found = stored.seq
    seq = stored.seq + 1
  }
  return found === 0 ? undefined : found
}

async function readNeeds(nc: NatsConnection, system: KV): Promise<number[]> {
  const needs: number[] = []
  for (const key of (await currentValues(nc, buckets.system, `${neededPrefix}>`)).keys()) {
    const needed = await readEntry(system, key, 'unknown')
    const readings = numberIn(needed, 'readings')
    if (readings !== undefined) needs.push(readings)
    // what we cannot read may need everything
    else if (!isNothing(needed)) needs.push(1)
  }
  return needs
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === 'object' && value !== null && 'readings' in value && value.readings === null)

function numberIn(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined
  const entry = Object.entries(value).find(([key]) => key === name)?.[1]
  return typeof entry === 'number' ? entry : undefined
}
