import type { NatsConnection } from '@nats-io/transport-node'
import { decodeSnapshot, type Snapshot } from '../../schemas/log/snapshot.ts'
import { readPrefix } from '../../schemas/log/snapshot-chunks.ts'
import { stateStream, stateSubject } from '../../schemas/subjects.ts'
import { reportBroken } from '../broken.ts'
import { lastMessage, nextMessage, type Stored } from './stored-message.ts'

const tries = 5

/** The partition's last complete snapshot; undefined if there is none, or only an incomplete one. */
export async function readSnapshot(
  nc: NatsConnection,
  partition: number,
): Promise<Snapshot | undefined> {
  // a new one may be written while we read: its chunks do not match the previous one's, so read again
  for (let i = 0; i < tries; i++) {
    const first = await lastChunk(nc, partition, 0)
    const prefix = first && readPrefix(first.data)
    if (first === undefined || prefix === undefined) return undefined
    const rest = await Promise.all(
      Array.from({ length: prefix.count - 1 }, (_, chunk) => lastChunk(nc, partition, chunk + 1)),
    )
    const chunks = [first, ...rest].flatMap((message) => (message ? [message.data] : []))
    const snapshot = decodeSnapshot(chunks)
    if (snapshot !== undefined) return snapshot
  }
  return undefined
}

/**
 * The last chunk of that number; a foreign message after it is skipped, since the stream keeps two
 * messages per subject.
 */
export async function lastChunk(
  nc: NatsConnection,
  partition: number,
  chunk: number,
): Promise<Stored | undefined> {
  const subject = stateSubject(partition, chunk)
  const last = await lastMessage(nc, stateStream, subject)
  if (last === undefined || readPrefix(last.data) !== undefined) return last
  reportBroken({ stream: stateStream, seq: last.seq, subject, why: 'it is not a snapshot' })
  const before = await nextMessage(nc, stateStream, subject, 1)
  return before !== undefined && readPrefix(before.data) !== undefined ? before : undefined
}
