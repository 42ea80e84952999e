/**
 * Events as they come, in order, from a sequence on. The client's ordered consumer resumes where it
 * was after a reconnect, mostly: after some ends of a server it never pulls again and says nothing.
 * So a feed ends when nothing is heard for a while that somebody waits for; who reads it opens the
 * next one.
 */
import {
  type Consumer,
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
  jetstream,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SourceStream } from '../core/delivery/ledger-record.ts'
import {
  createWebhookIndex,
  type Matched,
  type WebhookIndex,
} from '../core/delivery/webhook-match.ts'
import type { ArrivedReading } from '../core/state/log-message.ts'
import { isFresh } from '../core/state/presence.ts'
import { type LogReader, logReader } from '../runtime/nats/log-messages.ts'
import { audibly, endsPull, untilSilent } from '../runtime/nats/until-silent.ts'
import type { AirEvent } from '../schemas/log/event.ts'
import { eventsStream, readingsStream, readingsSubjects } from '../schemas/subjects.ts'
import { readEvent } from './sources.ts'

export type FeedItem = {
  readonly sequence: number
  /** When the broker stored it. */
  readonly storedMs: number
  /** Messages that the server holds behind this one. */
  readonly pending: number
} & (
  | {
      readonly stream: 'events'
      /** undefined: what is there is not an event; it is reported, and passed over. */
      readonly event: AirEvent | undefined
    }
  | { readonly stream: 'readings'; readonly readings: readonly ArrivedReading[] }
)

export type FeedStart = { readonly sequence: number } | { readonly sinceMs: number }

/** Ends by itself where the server is silent. */
export type Feed = AsyncDisposable &
  AsyncIterable<FeedItem> & {
    /** Items that were there when it was opened. */
    readonly pending: number
  }

export const streamNames = { events: eventsStream, readings: readingsStream } as const
/** Presence and rises; the anchor's own events concern no webhook. */
const subjects = {
  events: ['air.events.rise.*', 'air.events.presence.*'],
  readings: readingsSubjects,
}
/** Read ahead: an event is a kilobyte, a message of READINGS up to 512. */
const readAhead = { events: 200, readings: 4 } as const

export async function openFeed(
  nc: NatsConnection,
  stream: SourceStream,
  start: FeedStart,
): Promise<Feed> {
  const open = async (from: FeedStart): Promise<Consumer> =>
    await jetstream(nc).consumers.get(streamNames[stream], {
      filter_subjects: [...subjects[stream]],
      ...('sequence' in from
        ? {
            deliver_policy: DeliverPolicy.StartSequence,
            opt_start_seq: Math.max(1, from.sequence),
          }
        : {
            deliver_policy: DeliverPolicy.StartTime,
            opt_start_time: new Date(from.sinceMs).toISOString(),
          }),
    })
  const consume = async (consumer: Consumer): Promise<ConsumerMessages> =>
    await consumer.consume({ max_messages: readAhead[stream], ...audibly })
  const consumer = await open(start)
  const { num_pending: pending } = await consumer.info()
  let messages = await consume(consumer)
  let isIterated = false
  let isClosed = false
  return {
    pending,
    async *[Symbol.asyncIterator]() {
      isIterated = true
      const read = logReader(nc)
      for (;;) {
        let last: JsMsg | undefined
        for await (const raw of untilSilent(messages)) {
          last = raw
          yield await itemOf(raw, stream, read)
        }
        if (last === undefined || !endsPull(last) || isClosed) return
        messages = await consume(await open({ sequence: last.seq + 1 }))
        if (isClosed) void messages.close()
      }
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true
      const closed = messages.close()
      // the client's promise is settled by the end of an iteration: without one it never is
      if (isIterated) await closed
    },
  }
}

async function itemOf(raw: JsMsg, stream: SourceStream, read: LogReader): Promise<FeedItem> {
  const common = {
    sequence: raw.seq,
    storedMs: raw.info.timestampNanos / 1_000_000,
    pending: raw.info.pending,
  }
  if (stream === 'events') return { ...common, stream, event: readEvent(raw) }
  return { ...common, stream, readings: (await read(raw))?.readings ?? [] }
}

/** Tells whom an item concerns. Back-fill is history when it arrives, and fires nothing. */
export function matchItem(index: WebhookIndex, item: FeedItem, on: Matched): void {
  if (item.stream === 'readings') {
    item.readings.forEach(({ sensor, area, timeMs, arrivedMs }, place) => {
      if (isFresh(timeMs, arrivedMs)) index.reading({ sensor, area, place }, on)
    })
    return
  }
  const { event } = item
  if (event === undefined) return
  const place = { sensor: event.sensor_id, area: event.area }
  if (event.kind === 'rise') index.rise({ ...place, from: event.from, to: event.to }, on)
  else index.presence({ ...place, isOnline: event.kind === 'online' }, on)
}

/** An index of one: what an event says to this webhook alone. */
export function indexOfOne(...[subscription]: Parameters<WebhookIndex['put']>): WebhookIndex {
  const index = createWebhookIndex()
  index.put(subscription)
  return index
}
