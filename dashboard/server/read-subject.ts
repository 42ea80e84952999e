/** The messages of one subject of a stream, read without a consumer, which would stay on the server. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { reportBroken, whyOf } from '../../runtime/broken.ts'
import { asVersion1, type Format } from '../../schemas/formats.ts'
import { away } from './refusal.ts'

type Options = {
  readonly stream: string
  /** Of the messages. */
  readonly format: Format
  readonly subject: string
}

/** Messages of one answer. */
const pageSize = 250
const answerWithinMs = 2 * secondMs

/** Newest first; those that cannot be read are left out, and reported. @throws Refusal 503 */
export async function readSubject(
  nc: NatsConnection,
  options: Options,
): Promise<readonly unknown[]> {
  const values: unknown[] = []
  let from = 1
  for (;;) {
    const page = await readPage(nc, options, from)
    values.push(...page.flatMap(({ value }) => (value === undefined ? [] : [value])))
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return values.toReversed()
    from = last.seq + 1
  }
}

/** `value` is undefined where the message cannot be read. */
type Stored = { readonly seq: number; readonly value: unknown }

/** nats-server ADR-31: messages requested directly; 204 ends them, 404 means there are none. */
async function readPage(
  nc: NatsConnection,
  options: Options,
  seq: number,
): Promise<readonly Stored[]> {
  const { stream, subject } = options
  const question = JSON.stringify({ seq, next_by_subj: subject, batch: pageSize })
  const answers = await nc.requestMany(`$JS.API.DIRECT.GET.${stream}`, question, {
    strategy: 'sentinel',
    maxWait: answerWithinMs,
  })
  const page: Stored[] = []
  for await (const message of answers) {
    const status = message.headers?.code ?? 0
    if (status === 204 || status === 404) return page
    if (status !== 0) break
    const seq = Number(message.headers?.get('Nats-Sequence'))
    page.push({ seq, value: readValue(message, seq, options) })
  }
  throw away('events_unavailable', 'the events cannot be read right now')
}

function readValue(message: Msg, seq: number, { stream, format }: Options): unknown {
  try {
    return asVersion1(format, message.json())
  } catch (error) {
    const subject = message.headers?.get('Nats-Subject') ?? ''
    reportBroken({ stream, seq, subject, why: whyOf(error) })
    return undefined
  }
}
