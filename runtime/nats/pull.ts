/** The one way to read a stream from a sequence on: in order, without gaps, whatever the server does. */
import { type ConsumerMessages, DeliverPolicy, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../exit.ts'
import { pause } from '../pause.ts'
import { heartbeats, untilSilent } from './until-silent.ts'

export type PullOptions = {
  readonly stream: string
  /** All of the stream's by default. */
  readonly subjects?: readonly string[]
  /** The first sequence to read; if it was trimmed, reading starts at the first one there. */
  readonly fromSeq: number
  /** Where it ends; without it, it is live and ends when it is disposed. */
  readonly endSeq?: number
  /** Read ahead. */
  readonly maxMessages?: number
}

/** @throws TryAgain, while it is iterated, if the server falls silent before `endSeq` */
export type Pull = AsyncDisposable & AsyncIterable<JsMsg>

/** Between two tries to open it again. */
const againMs = 250

/**
 * The client's ordered consumer usually resumes after a reconnect, but after some exits of a server
 * it never pulls again, without an error. So when nothing was received for a while, and after a
 * message that ends a pull, the next pull is opened after the last message read.
 */
export async function openPull(nc: NatsConnection, options: PullOptions): Promise<Pull> {
  const stop = new AbortController()
  let current = await begin(nc, options, options.fromSeq)
  let reading: Promise<void> | undefined

  /** undefined: stopped meanwhile. A live pull waits for a server that is unavailable. */
  const openAgain = async (seq: number): Promise<Opened | undefined> => {
    while (!stop.signal.aborted) {
      try {
        return await begin(nc, options, seq)
      } catch (error) {
        if (options.endSeq !== undefined) throw error
        if (nc.isClosed()) return undefined
        await pause(againMs, stop.signal)
      }
    }
    return undefined
  }

  return {
    async *[Symbol.asyncIterator]() {
      const ended = Promise.withResolvers<void>()
      reading = ended.promise
      try {
        for (let nextSeq = options.fromSeq; ; ) {
          if (options.endSeq !== undefined && current.pending === 0) return
          const fromHere = nextSeq
          for await (const message of untilSilent(current.messages)) {
            nextSeq = message.seq + 1
            yield message
            if (isEnd(options, message)) return
          }
          if (options.endSeq !== undefined && nextSeq === fromHere)
            throw new TryAgain(`stream ${options.stream} could not be read to its end: try again`)
          current.close()
          const next = await openAgain(nextSeq)
          if (next === undefined) return
          current = next
          if (stop.signal.aborted) current.close()
        }
      } finally {
        current.close()
        ended.resolve()
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      // the client settles its promise at the end of an iteration: without one it never does
      current.close()
      await reading
    },
  }
}

type Opened = {
  readonly messages: ConsumerMessages
  readonly pending: number
  /** Also deletes the consumer on the server, which would keep it for minutes otherwise. */
  readonly close: () => void
}

const isEnd = ({ endSeq }: PullOptions, { seq, info }: JsMsg): boolean =>
  endSeq !== undefined && (seq >= endSeq || info.pending === 0)

async function begin(
  nc: NatsConnection,
  { stream, subjects, endSeq, maxMessages = 20 }: PullOptions,
  seq: number,
): Promise<Opened> {
  const consumer = await jetstream(nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, seq),
    ...(subjects === undefined ? {} : { filter_subjects: [...subjects] }),
  })
  // the last message may have been deleted meanwhile: then none arrives
  const pending = endSeq === undefined ? 1 : (await consumer.info()).num_pending
  const messages = await consumer.consume({ max_messages: maxMessages, ...heartbeats })
  return {
    messages,
    pending,
    close: () => {
      void messages.close()
      void consumer.delete().catch(() => false)
    },
  }
}
