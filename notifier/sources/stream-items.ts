/** Items that are messages of one stream, by that stream's own sequences: all in order, and single ones again. */
import { type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { minuteMs } from '../../core/time.ts'
import { openPull } from '../../runtime/nats/pull.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { firstSince, messageAt, type Stored } from '../../runtime/nats/stored-message.ts'
import type { Matched, Source, SourceItem } from './source.ts'

type StreamOptions = {
  readonly stream: string
  readonly subjects: readonly string[]
  /** How many to read ahead: an event is a kilobyte, a message of READINGS up to 512. */
  readonly maxMessages: number
  /** Called once each time the stream is read: the reader gets the messages in order. */
  readonly itemReader: () => (message: JsMsg) => SourceItem | Promise<SourceItem>
}

/** The parts of a source that follow from its stream. */
export function streamItems(
  nc: NatsConnection,
  { stream, subjects, maxMessages, itemReader }: StreamOptions,
): Pick<Source, 'follow' | 'read' | 'resumeAfter' | 'cursorSince'> {
  return {
    async *follow(fromSeq, stop) {
      await using pull = await openPull(nc, { stream, subjects, fromSeq, maxMessages })
      const close = (): void => void pull[Symbol.asyncDispose]()
      stop.addEventListener('abort', close, { once: true })
      try {
        if (stop.aborted) return
        const itemOf = itemReader()
        for await (const message of pull) yield await itemOf(message)
      } finally {
        stop.removeEventListener('abort', close)
      }
    },
    async *read(fromSeq, endSeq) {
      const itemOf = itemReader()
      for await (const message of readUpTo(nc, stream, { subjects, fromSeq, endSeq, maxMessages }))
        yield await itemOf(message)
    },
    resumeAfter: (matched) => resumeAfter(nc, stream, matched),
    cursorSince: async (sinceMs) => {
      const { streams } = await jetstreamManager(nc, { checkAPI: false })
      // requested first: messages stored meanwhile are after it
      const { state } = await streams.info(stream)
      return ((await firstSince(nc, stream, sinceMs)) ?? state.last_seq + 1) - 1
    },
  }
}

/** The fields that every item of a message has. */
export const commonOf = ({ seq, info }: JsMsg) => ({
  sequence: seq,
  storedMs: info.timestampNanos / 1_000_000,
  pending: info.pending,
})

/** Two servers of a cluster may have led the stream and the ledger, each with its own clock. */
const clockSlackMs = minuteMs

/**
 * A stream that has come back older (a restored volume, a tail lost in a power failure) assigns the
 * sequences after its end again: new messages would be taken for ones that were matched long ago. So
 * the stream is checked whenever it is followed, and if it has come back older, matching resumes by time.
 * @returns the sequence to continue after: `cursor`, if the stream is the same as before
 */
async function resumeAfter(
  nc: NatsConnection,
  stream: string,
  { cursor, storedMs }: Matched,
): Promise<number> {
  const { streams } = await jetstreamManager(nc, { checkAPI: false })
  const { state } = await streams.info(stream)
  const at = cursor <= state.last_seq ? await messageAt(nc, stream, cursor) : undefined
  const isAnother = at !== undefined && at.timeMs > storedMs + clockSlackMs
  if (cursor <= state.last_seq && !isAnother) return cursor
  return ((await firstSince(nc, stream, storedMs + 1)) ?? state.last_seq + 1) - 1
}

/** What the last messages that were read or seen hold, by sequence. */
export type RecentItems<T> = {
  readonly put: (seq: number, value: T) => void
  /** Two callers that read the same sequence at once share one read. */
  readonly get: (seq: number) => Promise<T | undefined>
}

/** Stores what the last `most` messages hold; reads those that it does not have. */
export function recentItems<T>(
  nc: NatsConnection,
  { stream, most }: { readonly stream: string; readonly most: number },
  contentOf: (message: Stored) => T | undefined | Promise<T | undefined>,
): RecentItems<T> {
  const read = async (seq: number): Promise<T | undefined> => {
    // of the stream's leader: a replica that lags behind lacks it, and the delivery would be dead
    const message = await messageAt(nc, stream, seq)
    return message && contentOf(message)
  }
  const recent = new Map<number, Promise<T | undefined>>()
  const keep = (seq: number, value: Promise<T | undefined>): void => {
    recent.delete(seq)
    recent.set(seq, value)
    if (recent.size <= most) return
    for (const oldest of recent.keys()) {
      recent.delete(oldest)
      return
    }
  }
  return {
    put: (seq, value) => keep(seq, Promise.resolve(value)),
    get: (seq) => {
      const known = recent.get(seq)
      if (known !== undefined) return known
      const reading = read(seq)
      keep(seq, reading)
      // a failure is not cached: the next caller reads again
      reading.catch(() => recent.delete(seq))
      return reading
    },
  }
}
