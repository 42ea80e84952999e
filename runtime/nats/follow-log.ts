/** Reads the READINGS log from a sequence on, live, in order and without gaps. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogMessage } from '../../core/state/log-message.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { pause } from '../pause.ts'
import { logReader } from './log-messages.ts'
import { openPull } from './pull.ts'

export type LogEntry = {
  /** The message's sequence in READINGS. */
  readonly seq: number
  /** undefined: a foreign message, already counted and reported; its sequence is skipped. */
  readonly message: LogMessage | undefined
  /** How many messages the server holds after this one; 0: this is the newest. */
  readonly pending: number
}

export type LogFollower = AsyncDisposable & AsyncIterable<LogEntry>

type FollowOptions = {
  /** The first sequence to read; if it was trimmed, reading starts at the first one there. */
  readonly fromSeq: number
  /** Only this partition's messages. */
  readonly partition?: number
  /** How many messages are read ahead at most, each up to 512 KB. */
  readonly maxMessages?: number
}

/** Between two tries to read the previous message of an entry. */
const againMs = 250

/** Survives reconnects. Ends when it is disposed. */
export async function followLog(
  nc: NatsConnection,
  { fromSeq, partition, maxMessages = 20 }: FollowOptions,
): Promise<LogFollower> {
  const pull = await openPull(nc, {
    stream: readingsStream,
    fromSeq,
    maxMessages,
    ...(partition === undefined ? {} : { subjects: [readingsSubject(partition)] }),
  })
  const stop = new AbortController()
  return {
    async *[Symbol.asyncIterator]() {
      const read = logReader(nc)
      for await (const raw of pull) {
        let message: LogMessage | undefined
        for (let isRead = false; !isRead; ) {
          try {
            message = await read(raw)
            isRead = true
          } catch (error) {
            if (error instanceof NewerFormat) throw error
            if (nc.isClosed() || stop.signal.aborted) return
            await pause(againMs, stop.signal)
          }
        }
        yield { seq: raw.seq, message, pending: raw.info.pending }
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await pull[Symbol.asyncDispose]()
    },
  }
}
