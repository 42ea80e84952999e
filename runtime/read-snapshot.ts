import type { NatsConnection } from '@nats-io/transport-node'
import { decodeSnapshot, type Snapshot } from '../schemas/snapshot.ts'
import { readPrefix } from '../schemas/snapshot-chunks.ts'
import { stateStream, stateSubject } from '../schemas/subjects.ts'
import { lastMessage } from './stored-message.ts'

const tries = 5

/** The partition's last whole snapshot; undefined where there is none, or only a torn one. */
export async function readSnapshot(
  nc: NatsConnection,
  partition: number,
): Promise<Snapshot | undefined> {
  // a new one may be put in while we read: its chunks disagree with the former's, so read again
  for (let i = 0; i < tries; i++) {
    const first = await lastMessage(nc, stateStream, stateSubject(partition, 0))
    const prefix = first && readPrefix(first.data)
    if (first === undefined || prefix === undefined) return undefined
    const rest = await Promise.all(
      Array.from({ length: prefix.count - 1 }, (_, chunk) =>
        lastMessage(nc, stateStream, stateSubject(partition, chunk + 1)),
      ),
    )
    const chunks = [first, ...rest].flatMap((message) => (message ? [message.data] : []))
    const snapshot = decodeSnapshot(chunks)
    if (snapshot !== undefined) return snapshot
  }
  return undefined
}
