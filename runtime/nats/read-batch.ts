/** Messages of a stream from a sequence on, by one request that leaves nothing on the server. */
import { JetStreamError, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { TryAgain } from '../exit.ts'
import type { Stored } from './stored-message.ts'

type Batch = {
  /** If it was trimmed, the batch starts at the first message there. */
  readonly fromSeq: number
  readonly maxMessages: number
  /** About: the last message may pass it. */
  readonly maxBytes: number
  /** The longest silence of the server. */
  readonly silentMs?: number
  readonly signal?: AbortSignal
}

/**
 * In order and without gaps; empty: there is none yet. A replica that lags behind its leader may have
 * fewer than there are.
 * @throws TryAgain if the server falls silent  @throws the reason of the signal
 */
export async function readBatch(
  nc: NatsConnection,
  stream: string,
  { fromSeq, maxMessages, maxBytes, silentMs = 2 * secondMs, signal }: Batch,
): Promise<readonly Stored[]> {
  signal?.throwIfAborted()
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const stored: Stored[] = []
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const fail = (): void => reject(new TryAgain(`stream ${stream} could not be read: try again`))
  const giveUp = (): void => reject(signal?.reason)
  let silence = setTimeout(fail, silentMs)
  const take = (message: StoredMsg): void => {
    silence.refresh()
    const { seq, subject, header: headers, data } = message
    // the server names the message that it sent before: one is lost if the client was too slow
    const before = Number(headers.last('Nats-Last-Sequence'))
    if (before > 0 && stored.length > 0 && before !== stored.at(-1)?.seq) fail()
    stored.push({ seq, subject, headers, data, timeMs: message.time.getTime() })
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  const reading = await manager.direct.getBatch(stream, {
    seq: Math.max(1, fromSeq),
    batch: maxMessages,
    max_bytes: maxBytes,
    // if it is iterated instead, the client never ends its subscription
    callback: (done, message) => {
      if (done === null) take(message)
      else if (done.err === undefined || isNotThere(done.err)) resolve()
      else reject(done.err)
    },
  })
  try {
    await ended
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', giveUp)
    reading.stop()
  }
  return stored
}

/** There is no message at the sequence or after it. */
const isNotThere = (error: Error): boolean =>
  error instanceof JetStreamError && 'code' in error && error.code === 404
