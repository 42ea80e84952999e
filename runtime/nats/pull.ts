/** The one way a stream is read from a sequence on: in order, without gaps, whatever the server does. */
import { type ConsumerMessages, DeliverPolicy, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../exit.ts'
import { pause } from '../pause.ts'
import { audibly, untilSilent } from './until-silent.ts'

export type PullOptions = {
  readonly stream: string
  /** All of the stream's, where none are named. */
  readonly subjects?: readonly string[]
  /** The first sequence wanted; what was trimmed before the first one held is skipped. */
  readonly fromSeq: number
  /** Where it ends; without it, it is live and ends when it is disposed. */
  readonly endSeq?: number
  /** Read ahead. */
  readonly maxMessages?: number
}

/** @throws TryAgain, while it is iterated, where the server falls silent before `endSeq` */
export type Pull = AsyncDisposable & AsyncIterable<JsMsg>

/** Between two tries to open it again. */
const againMs = 250

/**
 * The client's ordered consumer resumes where it was after a reconnect, mostly: after some ends of a
 * server it never pulls again and says nothing. So when nothing was heard for a while, and after a
 * message that ends a pull, the next one is opened after what was read last.
 */
export async function openPull(nc: NatsConnection, options: PullOptions): Promise<Pull> {
  const stop = new AbortController()
  let current = await begin(nc, options, options.fromSeq)
  let reading: Promise<void> | undefined

  /** undefined: stopped meanwhile. Where it is live, a server that is away is waited for. */
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
            throw new TryAgain(`${options.stream} was not read to its end`)
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
      // the client's promise is settled by the end of an iteration: without one it never is
      current.close()
      await reading
    },
  }
}

type Opened = {
  readonly messages: ConsumerMessages
  readonly pending: number
  /** Ends it at the server too, which keeps it for minutes otherwise. */
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
  // what was at the end may have gone meanwhile: then nothing comes
  const pending = endSeq === undefined ? 1 : (await consumer.info()).num_pending
  const messages = await consumer.consume({ max_messages: maxMessages, ...audibly })
  return {
    messages,
    pending,
    close: () => {
      void messages.close()
      void consumer.delete().catch(() => false)
    },
  }
}
