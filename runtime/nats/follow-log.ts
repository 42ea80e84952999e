/** Reads the READINGS log from a sequence on, live, in order and without gaps. */
import { type ConsumerMessages, DeliverPolicy, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { pause } from '../pause.ts'
import { logReader } from './log-messages.ts'
import { audibly, untilSilent } from './until-silent.ts'

export type LogEntry = {
  /** The message's sequence in READINGS. */
  readonly seq: number
  /** undefined: a foreign message, counted and reported already; its sequence is passed over. */
  readonly message: LogMessage | undefined
  /** How many messages the server holds behind this one: 0 is the present. */
  readonly pending: number
}

export type LogFollower = AsyncDisposable & AsyncIterable<LogEntry>

type FollowOptions = {
  /** The first sequence wanted; what was trimmed before the first one held is skipped. */
  readonly fromSeq: number
  /** Only this partition's messages. */
  readonly partition?: number
  /** Read ahead at most so many messages, each up to 512 KB. */
  readonly maxMessages?: number
}

/** Between two tries to open it anew. */
const againMs = 250

/**
 * Survives reconnects: when the server was silent it is opened again after what was read last.
 * Ends when it is disposed.
 */
export async function followLog(
  nc: NatsConnection,
  { fromSeq, partition, maxMessages = 20 }: FollowOptions,
): Promise<LogFollower> {
  const open = async (seq: number): Promise<ConsumerMessages> => {
    const consumer = await jetstream(nc).consumers.get(readingsStream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, seq),
      ...(partition === undefined ? {} : { filter_subjects: [readingsSubject(partition)] }),
    })
    return await consumer.consume({ max_messages: maxMessages, ...audibly })
  }
  const stop = new AbortController()
  /** undefined: stopped meanwhile. */
  const openAgain = async (seq: number): Promise<ConsumerMessages | undefined> => {
    while (!stop.signal.aborted) {
      try {
        return await open(seq)
      } catch {
        if (nc.isClosed()) return undefined
        await pause(againMs, stop.signal)
      }
    }
    return undefined
  }

  let messages = await open(fromSeq)
  let reading: Promise<void> | undefined
  return {
    async *[Symbol.asyncIterator]() {
      const ended = Promise.withResolvers<void>()
      reading = ended.promise
      let nextSeq = fromSeq
      const read = logReader(nc)
      try {
        for (;;) {
          for await (const raw of untilSilent(messages)) {
            const message = await read(raw).catch(() => 'unanswered' as const)
            if (message === 'unanswered') break
            nextSeq = raw.seq + 1
            yield { seq: raw.seq, message, pending: raw.info.pending }
          }
          const next = await openAgain(nextSeq)
          if (next === undefined) return
          messages = next
          if (stop.signal.aborted) void messages.close()
        }
      } finally {
        ended.resolve()
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      // the client's promise is settled by the end of an iteration: without one it never is
      void messages.close()
      await reading
    },
  }
}
