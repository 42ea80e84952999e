import type { NatsConnection } from '@nats-io/transport-node'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'

/**
 * Whether the log has given a number out: by memory, else by the log itself, which is ahead of
 * memory and never behind the store. A stored row with a later number was made up.
 */
export const isInLog =
  (nc: NatsConnection, states: () => readonly PartitionState[]) =>
  async (seq: number): Promise<boolean> => {
    const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
    if (n <= (states()[partition]?.n ?? 0)) return true
    const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
    if (last === undefined) return false
    const message = await logReader(nc)(last)
    // after a foreign message memory is all that is known; what is newer may still be of the log
    return message === undefined || n <= message.nLast
  }
