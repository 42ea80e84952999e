import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createState } from '../../../core/state/partition-state.ts'
import { encodeSnapshot } from '../../../schemas/log/snapshot.ts'
import { stateSubject } from '../../../schemas/subjects.ts'

/** Records that a partition's pipeline needs nothing of READINGS up to the sequence. */
export async function putSnapshot(
  nc: NatsConnection,
  { partition, seq }: { readonly partition: number; readonly seq: number },
): Promise<void> {
  const state = createState(partition)
  state.readingsSeq = seq
  state.lateTo = seq
  const [chunk] = encodeSnapshot(state, { store: seq, events: seq, rejected: seq }, [], 2)
  await jetstream(nc).publish(stateSubject(partition, 0), chunk)
}
