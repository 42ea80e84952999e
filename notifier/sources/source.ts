/**
 * Where events come from. The code that follows, matches, catches up, recovers and delivers takes a
 * list of sources and names none of them; the list is in `core/delivery/event-kinds.ts` (their
 * rows) and `notifier/open-context.ts` (their modules).
 */
import { type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeliveryKey, SourceName } from '../../core/delivery/delivery.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import type { Matched as OnMatched, WebhookIndex } from '../../core/delivery/webhook-match.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { minuteMs } from '../../core/time.ts'
import { openPull } from '../../runtime/nats/pull.ts'
import { readUpTo } from '../../runtime/nats/read-up-to.ts'
import { firstSince, messageAt, type Stored } from '../../runtime/nats/stored-message.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { Occurrence } from './payload.ts'

/** One message of a source, which holds any number of events. */
export type SourceItem = {
  readonly source: SourceName
  /** In the stream that the source counts by; higher than that of the item before. */
  readonly sequence: number
  /** When it happened, by the broker's clock. */
  readonly storedMs: number
  /** Messages that the server holds after this one. */
  readonly pending: number
  /** Calls back for every webhook that it concerns. */
  readonly match: (index: WebhookIndex, on: OnMatched) => void
}

export type Matched = {
  /** The last sequence that was matched. */
  readonly cursor: number
  /** That message was stored at this time or before; ms of the broker. */
  readonly storedMs: number
}

export type Source = {
  readonly name: SourceName
  /** Live, in order and without a gap, until it is stopped. Rejects when the server is away. */
  readonly follow: (fromSeq: number, stop: AbortSignal) => AsyncIterable<SourceItem>
  /** The stored items from a sequence up to another. Rejects when the server is away. */
  readonly read: (fromSeq: number, endSeq: number) => AsyncIterable<SourceItem>
  /** What a delivery is about; undefined: it is not stored any more. */
  readonly occurrence: (key: DeliveryKey) => Promise<Occurrence | undefined>
  /**
   * Where to continue after what was matched: the cursor, unless the stream has come back older.
   */
  readonly resumeAfter: (matched: Matched) => Promise<number>
  /** The cursor before everything that happened at that time or later, ms since the epoch. */
  readonly cursorSince: (sinceMs: number) => Promise<number>
}

export type Sources = Readonly<Record<SourceName, Source>>

/** What sources are made of. */
export type SourceContext = {
  readonly nc: NatsConnection
  readonly keccak: Keccak
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** `aqi_threshold` of a webhook, if it has one. */
  readonly thresholdOf: (webhook: WebhookNumber) => number | undefined
  /** The API's public address, for links to proofs. */
  readonly publicUrl: string
  readonly stop: AbortSignal
}

type StreamOptions = {
  readonly stream: string
  readonly subjects: readonly string[]
  /** How many to read ahead: an event is a kilobyte, a message of READINGS up to 512. */
  readonly maxMessages: number
  /** Called once each time the stream is read: the reader gets the messages in order. */
  readonly itemReader: () => (message: JsMsg) => SourceItem | Promise<SourceItem>
}

/**
 * The parts of a source that follow from its stream: its items are the stream's messages, by the
 * stream's own sequences.
 */
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
