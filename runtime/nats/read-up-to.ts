/** Reads what a stream holds up to a sequence, and no further. */
import { DeliverPolicy, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { TryAgain } from '../exit.ts'
import { audibly, untilSilent } from './until-silent.ts'

type Span = {
  readonly subject: string
  readonly fromSeq: number
  /** The subject held a message there a moment ago. */
  readonly endSeq: number
}

/** In order, none left out. @throws TryAgain where the server falls silent before the end */
export async function* readUpTo(
  nc: NatsConnection,
  stream: string,
  { subject, fromSeq, endSeq }: Span,
): AsyncGenerator<JsMsg> {
  for (let next = Math.max(1, fromSeq); next <= endSeq; ) {
    const fromHere = next
    const consumer = await jetstream(nc).consumers.get(stream, {
      filter_subjects: [subject],
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: next,
    })
    // what was at the end has gone meanwhile
    if ((await consumer.info()).num_pending === 0) return
    for await (const message of untilSilent(
      await consumer.consume({ max_messages: 200, ...audibly }),
    )) {
      next = message.seq + 1
      yield message
      if (next > endSeq || message.info.pending === 0) return
    }
    if (next === fromHere) throw new TryAgain(`${stream} was not read to its end`)
  }
}
