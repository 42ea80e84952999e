import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../../core/time.ts'
import { reportBroken, whyOf } from '../../../runtime/broken.ts'
import { asVersion1 } from '../../../schemas/formats.ts'
import { auditStream, auditSubject } from '../../../schemas/subjects.ts'
import { away } from '../refusal.ts'

/** The stream stores at most 1,000 of an account; each answer holds this number. */
const pageSize = 250
const answerWithinMs = 2 * secondMs

/** Newest first. @throws Refusal 503 */
export async function readAudit(nc: NatsConnection, account: string): Promise<readonly unknown[]> {
  const events: unknown[] = []
  let from = 1
  for (;;) {
    const page = await readPage(nc, auditSubject(account), from)
    events.push(...page.flatMap(({ event }) => (event === undefined ? [] : [event])))
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return events.toReversed()
    from = last.seq + 1
  }
}

/** `event` is undefined where the message cannot be read. */
type Stored = { readonly seq: number; readonly event: unknown }

/** nats-server ADR-31: messages requested directly; 204 ends them, 404 means there are none. */
async function readPage(
  nc: NatsConnection,
  subject: string,
  seq: number,
): Promise<readonly Stored[]> {
  const question = JSON.stringify({ seq, next_by_subj: subject, batch: pageSize })
  const answers = await nc.requestMany(`$JS.API.DIRECT.GET.${auditStream}`, question, {
    strategy: 'sentinel',
    maxWait: answerWithinMs,
  })
  const page: Stored[] = []
  for await (const message of answers) {
    const status = message.headers?.code ?? 0
    if (status === 204 || status === 404) return page
    if (status !== 0) break
    const seq = Number(message.headers?.get('Nats-Sequence'))
    page.push({ seq, event: readEvent(message, seq) })
  }
  throw away('events_unavailable', 'the events cannot be read right now')
}

function readEvent(message: Msg, seq: number): unknown {
  try {
    return asVersion1('audit', message.json())
  } catch (error) {
    const subject = message.headers?.get('Nats-Subject') ?? ''
    reportBroken({ stream: auditStream, seq, subject, why: whyOf(error) })
    return undefined
  }
}
