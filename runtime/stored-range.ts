import { DeliverPolicy, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { audibly, untilSilent } from './until-silent.ts'

type Range = {
  readonly stream: string
  readonly subject: string
  readonly fromSeq: number
  /** A message of the subject has this sequence: it is the last one read. */
  readonly endSeq: number
  /** Read ahead at most so many messages. */
  readonly maxMessages?: number
}

/** The messages of one subject in order, up to one that is there. Rejects when the server is away. */
export async function* storedRange(
  nc: NatsConnection,
  { stream, subject, fromSeq, endSeq, maxMessages = 100 }: Range,
): AsyncGenerator<JsMsg> {
  for (let nextSeq = fromSeq; ; ) {
    const consumer = await jetstream(nc).consumers.get(stream, {
      filter_subjects: [subject],
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, nextSeq),
    })
    const messages = await consumer.consume({ max_messages: maxMessages, ...audibly })
    try {
      for await (const message of untilSilent(messages)) {
        yield message
        if (message.seq >= endSeq) return
        nextSeq = message.seq + 1
      }
    } finally {
      await messages.close()
    }
  }
}
