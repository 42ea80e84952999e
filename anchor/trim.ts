/**
 * READINGS is cut off behind what nobody needs any more. Kept is everything that is not in a final
 * anchor, what some projection has still to read, and in any case each partition's last message:
 * without it the partition's fence would be gone and its numbers would begin again.
 *
 * Whoever else reads the log late (the notifier) says so in bucket `system`, key `needed.<who>`:
 * `{"readings": n}`, the oldest sequence it still reads, null where it reads none; at most seven
 * days back.
 */
import { jetstreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../core/sensor-id.ts'
import { readSnapshot } from '../runtime/read-snapshot.ts'
import { lastMessage } from '../runtime/stored-message.ts'
import { readingsStream, readingsSubject } from '../schemas/subjects.ts'

export type PartitionPosition = {
  /** Sequence of its last message; undefined: it never had one. */
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
}

/** @returns the oldest sequence to keep */
export function keepFrom({ finalLast, partitions, rollUp, needs }: TrimBounds): number {
  const perPartition = partitions.flatMap(({ last, snapshot }) => {
    if (last === undefined) return []
    if (snapshot === undefined) return [1]
    const done = Math.min(snapshot.seq, snapshot.store, snapshot.lateTo)
    return [last, done + 1]
  })
  return Math.min(finalLast + 1, rollUp + 1, ...needs, ...perPartition)
}

/** @returns the oldest sequence that is kept now */
export async function trimLog(nc: NatsConnection, system: KV, finalLast: number): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await manager.streams.info(readingsStream)
  if (finalLast < state.first_seq) return state.first_seq
  const partitions = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => positionOf(nc, partition)),
  )
  const from = keepFrom({
    finalLast,
    partitions,
    rollUp: numberIn(await json(system, 'rollup'), 'position') ?? 0,
    needs: await readNeeds(system),
  })
  if (from <= state.first_seq) return state.first_seq
  await manager.streams.purge(readingsStream, { seq: from })
  return from
}

async function positionOf(nc: NatsConnection, partition: number): Promise<PartitionPosition> {
  // the snapshot first: a message that comes meanwhile only makes us keep more
  const snapshot = await readSnapshot(nc, partition)
  const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
  return {
    last: last?.seq,
    snapshot: snapshot && {
      seq: snapshot.state.readingsSeq,
      store: snapshot.positions.store,
      lateTo: snapshot.state.lateTo,
    },
  }
}

async function readNeeds(system: KV): Promise<number[]> {
  const needs: number[] = []
  for await (const key of await system.keys('needed.>')) {
    const said = await json(system, key)
    const readings = numberIn(said, 'readings')
    if (readings !== undefined) needs.push(readings)
    // what we cannot read may need everything
    else if (!isNothing(said)) needs.push(1)
  }
  return needs
}

async function json(kv: KV, key: string): Promise<unknown> {
  const entry = await kv.get(key)
  return entry?.operation === 'PUT' ? entry.json() : undefined
}

const isNothing = (said: unknown): boolean =>
  said === undefined ||
  (typeof said === 'object' && said !== null && 'readings' in said && said.readings === null)

function numberIn(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined
  const found = Object.entries(value).find(([key]) => key === name)?.[1]
  return typeof found === 'number' ? found : undefined
}
