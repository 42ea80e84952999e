/**
 * Puts a partition's snapshot into STATE, all chunks or none. Chunk 0 is fenced by the sequence of
 * the one before, so a worker that lost its partition cannot put an old snapshot over a newer one.
 */

import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { lastChunk } from '../../runtime/nats/read-snapshot.ts'
import { isWrongLastSequence, lastMessage } from '../../runtime/nats/stored-message.ts'
import { readPrefix } from '../../schemas/log/snapshot-chunks.ts'
import { stateStream, stateSubject } from '../../schemas/subjects.ts'

export type SnapshotWriter = (chunks: readonly Uint8Array[]) => Promise<'written' | 'stale'>

export function snapshotWriter(
  { nc, js }: { readonly nc: NatsConnection; readonly js: JetStreamClient },
  partition: number,
): SnapshotWriter {
  let lastSeq: number | undefined

  /** Sequence of the snapshot we may replace; undefined where a newer one than ours is there. */
  const replaceable = async (readingsSeq: number): Promise<number | undefined> => {
    const last = await lastMessage(nc, stateStream, stateSubject(partition, 0))
    const chunk = await lastChunk(nc, partition, 0)
    const stored = chunk && readPrefix(chunk.data)
    if (stored !== undefined && stored.readingsSeq > readingsSeq) return undefined
    return last?.seq ?? 0
  }

  const put = async (chunks: readonly Uint8Array[], expected: number): Promise<number> => {
    const fence = { expect: { lastSubjectSequence: expected } }
    const [first, ...rest] = chunks
    const last = rest.pop()
    if (last === undefined) return (await js.publish(stateSubject(partition, 0), first, fence)).seq
    const batch = await js.startBatch(stateSubject(partition, 0), first, fence)
    rest.forEach((chunk, i) => {
      batch.add(stateSubject(partition, i + 1), chunk)
    })
    const ack = await batch.commit(stateSubject(partition, rest.length + 1), last)
    return ack.seq - chunks.length + 1
  }

  return async (chunks) => {
    const prefix = chunks[0] && readPrefix(chunks[0])
    if (prefix === undefined) throw new RangeError('a snapshot has at least one chunk')
    lastSeq ??= await replaceable(prefix.readingsSeq)
    if (lastSeq === undefined) return 'stale'
    try {
      lastSeq = await put(chunks, lastSeq)
      return 'written'
    } catch (error) {
      // after a time-out the chunk may be there: ask again next time
      lastSeq = undefined
      if (!isWrongLastSequence(error)) throw error
      return (await replaceable(prefix.readingsSeq)) === undefined ? 'stale' : 'written'
    }
  }
}
