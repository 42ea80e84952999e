import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { createState, type PartitionState } from '../../core/state/partition-state.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { readSnapshot } from './read-snapshot.ts'

export type Seed = {
  /** By partition; one that never took a snapshot is empty. */
  readonly states: readonly PartitionState[]
  /** READINGS from here on hold everything that the states or the store may lack. */
  readonly fromSeq: number
  /** The last sequence of READINGS at the time: a state that has folded it is up to date. */
  readonly lastSeq: number
}

/**
 * The state of every partition from its newest snapshot.
 * @param rolledUpTo the position of the statistics job: what follows it is needed too
 */
export async function seedStates(nc: NatsConnection, rolledUpTo: number): Promise<Seed> {
  const manager = await jetstreamManager(nc)
  const seeds = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => readPartition(nc, partition)),
  )
  const { state: stream } = await manager.streams.info(readingsStream)
  return {
    states: seeds.map(({ state }) => state),
    // a partition that never had a message counts as stored up to 0, and does not keep the log from
    // being trimmed: what begins before the log's first message would claim messages that it has not
    fromSeq: Math.max(
      1,
      stream.first_seq,
      Math.min(rolledUpTo, ...seeds.map(({ storedTo }) => storedTo)) + 1,
    ),
    lastSeq: stream.last_seq,
  }
}

async function readPartition(
  nc: NatsConnection,
  partition: number,
): Promise<{ readonly state: PartitionState; readonly storedTo: number }> {
  const snapshot = await readSnapshot(nc, partition)
  if (snapshot === undefined) return { state: createState(partition), storedTo: 0 }
  const { state, positions } = snapshot
  return { state, storedTo: Math.min(state.readingsSeq, positions.store) }
}
