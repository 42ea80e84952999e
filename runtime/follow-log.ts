/** Reads the READINGS log from a sequence on, live, in order and without gaps. */
import { DeliverPolicy, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../core/log-message.ts'
import { decodeReadings, type LogHeader } from '../schemas/readings-message.ts'
import {
  logHeaders,
  partitionOfReadings,
  readingsStream,
  readingsSubject,
} from '../schemas/subjects.ts'

export type LogEntry = {
  /** The message's sequence in READINGS. */
  readonly seq: number
  readonly message: LogMessage
  /** How many messages the server holds behind this one: 0 is the present. */
  readonly pending: number
}

export function readHeader(subject: string, headers: MsgHdrs | undefined): LogHeader {
  const number = (name: string): number => Number(headers?.get(name) || 0)
  return {
    partition: partitionOfReadings(subject),
    worker: headers?.get(logHeaders.worker) ?? '',
    rawLast: number(logHeaders.rawLast),
    rawLastTimeMs: number(logHeaders.rawLastTime),
    nLast: number(logHeaders.nLast),
    lateTo: number(logHeaders.lateTo),
  }
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

/**
 * By its own measure the client takes a consumer that went with its server for dead after a minute,
 * and for so long whoever shows the log would show the past.
 */
const heartbeatMs = 500
const pullExpiresMs = 5_000

/** Survives reconnects: the client's ordered consumer resumes where it was. */
export async function followLog(
  nc: NatsConnection,
  { fromSeq, partition, maxMessages = 20 }: FollowOptions,
): Promise<LogFollower> {
  const consumer = await jetstream(nc).consumers.get(readingsStream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, fromSeq),
    ...(partition === undefined ? {} : { filter_subjects: [readingsSubject(partition)] }),
  })
  const messages = await consumer.consume({
    max_messages: maxMessages,
    expires: pullExpiresMs,
    idle_heartbeat: heartbeatMs,
  })
  const entryOf = (raw: JsMsg): LogEntry => ({
    seq: raw.seq,
    message: decodeReadings(readHeader(raw.subject, raw.headers), raw.data),
    pending: raw.info.pending,
  })
  let isIterated = false
  return {
    async *[Symbol.asyncIterator]() {
      isIterated = true
      for await (const raw of messages) yield entryOf(raw)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = messages.close()
      // the client's promise is settled by the end of an iteration: without one it never is
      if (isIterated) await closed
    },
  }
}
