/**
 * Copies of whole streams by JetStream's own snapshot and restore requests, which the client library
 * does not have. A copy keeps sequences, times and headers. It is made while the stream is written to:
 * it holds everything up to the sequence that `state` names, and perhaps some messages after it.
 * Consumers are not in it: every process of ours makes its own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { MustAct, TryAgain } from '../../exit.ts'
import { newInbox } from '../own-inbox.ts'

export type StreamState = {
  readonly messages: number
  readonly bytes: number
  readonly first_seq: number
  readonly last_seq: number
}

/** What the server said of the stream when the copy began: it is passed back to restore it. */
export type StreamCopy = {
  readonly config: Readonly<Record<string, unknown>> & { readonly name: string }
  readonly state: StreamState
}

const chunkBytes = 128 * 1024
/** Sent before the first acknowledgement: the server's other work must not wait for a copy. */
const windowBytes = 2 * 1024 * 1024
/** Of a server that is busy with a full disk, or reads a large block. */
const answerWithinMs = 30_000
/** A large stream is checked and indexed before the server answers. */
const restoredWithinMs = 600_000
const tries = 5
const retryMs = 500

export type ChunkSink = {
  /** Resolves when the chunk is written: the next ones are only then asked for. */
  readonly write: (chunk: Uint8Array) => Promise<void>
  /** Forgets everything so far: the copy begins again. */
  readonly reset: () => Promise<void>
}

/**
 * @param stream its messages may be deleted meanwhile; then the copy begins again
 * @throws TryAgain if the server does not finish it, MustAct if it refuses
 */
export async function copyStream(
  nc: NatsConnection,
  stream: string,
  sink: ChunkSink,
): Promise<StreamCopy> {
  for (let tried = 1; ; tried++) {
    try {
      await sink.reset()
      return await copyOnce(nc, stream, sink)
    } catch (cause) {
      if (!(cause instanceof CopyFailed)) throw cause
      if (tried === tries)
        throw new TryAgain(`NATS does not finish a copy of stream ${stream} (${cause.message})`, {
          cause,
        })
      await sleep(retryMs)
    }
  }
}

/** The server gave up, for example because a block of the stream was deleted while it was read. */
class CopyFailed extends Error {}

async function copyOnce(nc: NatsConnection, stream: string, sink: ChunkSink): Promise<StreamCopy> {
  const deliver = newInbox(nc)
  const chunks = nc.subscribe(deliver)
  let lastMs = performance.now()
  const watchdog = setInterval(() => {
    if (performance.now() - lastMs > answerWithinMs) chunks.unsubscribe()
  }, 1_000)
  try {
    const copy = asCopy(
      await ask(nc, `$JS.API.STREAM.SNAPSHOT.${stream}`, {
        deliver_subject: deliver,
        no_consumers: true,
        chunk_size: chunkBytes,
        window_size: windowBytes,
      }),
    )
    for await (const message of chunks) {
      lastMs = performance.now()
      if (message.data.length === 0) {
        const { code = 0, description = '' } = message.headers ?? {}
        if (code >= 400) throw new CopyFailed(description)
        return copy
      }
      await sink.write(message.data)
      message.respond()
    }
    throw new CopyFailed(`silent for ${answerWithinMs / 1_000} s`)
  } finally {
    clearInterval(watchdog)
    chunks.unsubscribe()
  }
}

/** @throws MustAct if the stream exists, or the server refuses it */
export async function restoreStream(
  nc: NatsConnection,
  { config, state }: StreamCopy,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { deliver_subject: deliver } = await ask(nc, `$JS.API.STREAM.RESTORE.${config.name}`, {
    config,
    state,
  })
  if (typeof deliver !== 'string') throw new MustAct('NATS takes no streams: is JetStream enabled?')
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += chunkBytes) {
      const part = chunk.subarray(at, at + chunkBytes)
      const answer = await nc.request(deliver, part, { timeout: answerWithinMs })
      if (answer.data.length > 0) answerOf(answer)
    }
  answerOf(await nc.request(deliver, new Uint8Array(), { timeout: restoredWithinMs }))
}

async function ask(nc: NatsConnection, subject: string, request: object): Promise<Answer> {
  const answer = await nc.request(subject, JSON.stringify(request), { timeout: answerWithinMs })
  return answerOf(answer)
}

type Answer = Readonly<Record<string, unknown>>

/** @throws MustAct in the server's words */
function answerOf(message: Msg): Answer {
  const answer: Answer = Object(message.json())
  const error: unknown = answer['error']
  if (error === undefined) return answer
  throw new MustAct(`NATS refuses: ${String(Reflect.get(Object(error), 'description'))}`)
}

function asCopy({ config, state }: Answer): StreamCopy {
  const copy: unknown = { config, state }
  if (isStreamCopy(copy)) return copy
  throw new MustAct('NATS answered a request for a copy with something else')
}

export function isStreamCopy(value: unknown): value is StreamCopy {
  const field = (of: unknown, name: string): unknown => Reflect.get(Object(of), name)
  const [config, state] = [field(value, 'config'), field(value, 'state')]
  const numbers = ['messages', 'bytes', 'first_seq', 'last_seq']
  return (
    typeof field(config, 'name') === 'string' &&
    numbers.every((name) => typeof field(state, name) === 'number')
  )
}
