/** Reads the messages of a stream up to a sequence, and no further. */
import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { openPull } from './pull.ts'

type Span = {
  readonly subjects: readonly string[]
  readonly fromSeq: number
  /** The subjects held a message there a moment ago. */
  readonly endSeq: number
  readonly maxMessages?: number
}

/** In order, without gaps. @throws TryAgain if the server falls silent before the end */
export async function* readUpTo(
  nc: NatsConnection,
  stream: string,
  { maxMessages = 200, ...span }: Span,
): AsyncGenerator<JsMsg> {
  if (span.fromSeq > span.endSeq) return
  await using pull = await openPull(nc, { stream, maxMessages, ...span })
  for await (const message of pull) {
    if (message.seq > span.endSeq) return
    yield message
  }
}
