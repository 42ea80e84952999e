/**
 * The log after a place, for clients that continue: from the tail in memory, and what is older from the
 * server, in small pieces. A place is a `LogCursor`; one that the log cannot continue is named as such.
 */
import { setImmediate as soon } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { readBatch } from '../../runtime/nats/read-batch.ts'
import { lastMessage, nextMessage } from '../../runtime/nats/stored-message.ts'
import type { LogCursor } from '../../schemas/log/log-cursor.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import type { LogTail, TailEntry } from './log-tail.ts'

/** Messages that the log does not hold any more, some of whose readings the client does not have. */
export type Missing = { readonly firstSeq: number; readonly lastSeq: number }

export type Continued =
  /** @param missing what is passed over: `cursor` is after it */
  | { readonly cursor: LogCursor; readonly missing?: Missing }
  /** The cursor is not of this log, or names what the log does not have yet. */
  | { readonly refused: 'other_network' | 'future' }

export type LogAfter = {
  /** Where the log goes on after the cursor. */
  readonly continueFrom: (cursor: LogCursor) => Promise<Continued>
  /**
   * Messages after a sequence, in order, up to the end of the tail; it may also end earlier, where a
   * replica of the server lags behind. @throws the reason of the signal
   */
  readonly after: (seq: number, signal: AbortSignal) => AsyncGenerator<TailEntry>
  /** The place after a message: what a reader from the beginning has there. */
  readonly placeAt: (seq: number) => Promise<LogCursor>
  /** The sequences of the first and last message that the log holds. */
  readonly ends: () => Promise<{ readonly first: number; readonly last: number }>
}

/** What is asked of the server at once. */
const batch = { maxMessages: 500, maxBytes: 512 * 1024 }
/** After this many readings of the server's others get their turn. */
const readingsAtOnce = 1_000

type Options = {
  readonly nc: NatsConnection
  readonly network: string
  readonly tail: LogTail
}

export function openLogAfter({ nc, network, tail }: Options): LogAfter {
  const ends: LogAfter['ends'] = async () => {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const { first_seq, last_seq: last } = (await manager.streams.info(readingsStream)).state
    // 0 while nothing was ever written
    return { first: Math.max(1, first_seq), last }
  }

  async function* after(seq: number, signal: AbortSignal): AsyncGenerator<TailEntry> {
    const read = logReader(nc)
    let position = seq
    let decoded = 0
    for (;;) {
      const kept = tail.after(position)
      if (kept?.length === 0) return
      if (kept !== undefined) {
        yield* kept
        position = kept.at(-1)?.seq ?? position
        continue
      }
      const stored = await readBatch(nc, readingsStream, {
        fromSeq: position + 1,
        signal,
        ...batch,
      })
      if (stored.length === 0) return
      for (const one of stored) {
        // the tail goes on here, with readings that others share
        if (one.seq > tail.from()) {
          position = Math.max(position, tail.from())
          break
        }
        const message = await read(one)
        signal.throwIfAborted()
        if (message !== undefined) yield { seq: one.seq, message }
        position = one.seq
        decoded += message?.readings.length ?? 1
        if (decoded < readingsAtOnce) continue
        decoded = 0
        await soon()
      }
    }
  }

  /** The first message of the log of a partition at a sequence or after it. */
  const firstOf = async (partition: number, fromSeq: number): Promise<LogMessage | undefined> => {
    const read = logReader(nc)
    const subject = readingsSubject(partition)
    for (let seq = fromSeq; ; ) {
      const stored = await nextMessage(nc, readingsStream, subject, seq)
      const message = stored && (await read(stored))
      if (stored === undefined || message !== undefined) return message
      seq = stored.seq + 1
    }
  }
  const lastOf = async (partition: number) => {
    const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
    return last && { seq: last.seq, message: await logReader(nc)(last) }
  }
  const foldedOf = (partition: number): number => tail.end()?.n[partition] ?? 0
  const numberAt = async (partition: number, seq: number): Promise<number> => {
    for (;;) {
      // first of all, so that it has nothing that comes after the message meanwhile
      const folded = foldedOf(partition)
      const next = await firstOf(partition, seq + 1)
      if (next !== undefined) return next.nLast - next.readings.length
      const last = await lastOf(partition)
      if (last === undefined) return 0
      // a foreign one is the last: the picture has folded what is before it
      if (last.message === undefined) return folded
      if (last.seq <= seq) return last.message.nLast
    }
  }
  const placeAt: LogAfter['placeAt'] = async (seq) => {
    const numbers = Array.from({ length: partitionCount }, (_, partition) =>
      numberAt(partition, seq),
    )
    return { version: 1, network, position: seq, n: await Promise.all(numbers) }
  }

  /** Whether the cursor has numbers that the log never gave out. */
  const isFuture = async ({ n }: LogCursor): Promise<boolean> => {
    for (const [partition, number] of n.entries()) {
      if (number <= foldedOf(partition)) continue
      // another process may have folded more than this one
      const last = await lastOf(partition)
      if (number > (last?.message?.nLast ?? foldedOf(partition))) return true
    }
    return false
  }

  const continueFrom: LogAfter['continueFrom'] = async (cursor) => {
    if (cursor.network !== network) return { refused: 'other_network' }
    const { position, n } = cursor
    const end = tail.end()
    const isNear =
      end !== undefined &&
      position >= tail.from() &&
      position <= end.position &&
      n.every((number, partition) => number <= (end.n[partition] ?? 0))
    if (isNear) return { cursor }
    const { first, last } = await ends()
    if (position > last || (await isFuture(cursor))) return { refused: 'future' }
    if (position + 1 >= first) return { cursor }
    const oldest = await placeAt(first - 1)
    const isMissing = oldest.n.some((number, partition) => number > (n[partition] ?? 0))
    const from = {
      ...oldest,
      n: n.map((number, partition) => Math.max(number, oldest.n[partition] ?? 0)),
    }
    return isMissing
      ? { cursor: from, missing: { firstSeq: position + 1, lastSeq: first - 1 } }
      : { cursor: from }
  }

  return { continueFrom, after, placeAt, ends }
}
