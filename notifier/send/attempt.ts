/**
 * One attempt at a delivery: builds, signs and sends the body, judges the answer and describes
 * both.
 */

import type { NatsConnection } from '@nats-io/transport-node'
import {
  type AttemptVerdict,
  judgeAttempt,
  parseRetryAfter,
} from '../../core/delivery/attempt-verdict.ts'
import { type DeliveryRecord, keyText } from '../../core/delivery/delivery.ts'
import { judgeWebhookUrl } from '../../core/delivery/webhook-url.ts'
import { formatIso } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { inWords } from '../../runtime/exit.ts'
import { signatureHeaders } from '../../runtime/webhook-signature.ts'
import { attemptSubject } from '../../schemas/subjects.ts'
import type { Attempt, AttemptError } from '../../schemas/webhooks/attempt.ts'
import { bodyOf, deliveryId, type Occurrence } from '../sources/payload.ts'
import type { BookEntry, WebhookBook } from '../webhook-book.ts'
import { describeAnswer } from './describe-answer.ts'
import type { Sender, Sent } from './send.ts'

export type AttemptContext = {
  readonly sender: Sender
  readonly book: WebhookBook
  readonly signatureHeader: string
  readonly userAgent: string
  readonly allowInsecure: boolean
  /** The wall clock: a receiver compares it with its own. */
  readonly wallMs: () => number
  readonly random: () => number
}

export type Attempted = {
  readonly verdict: AttemptVerdict | { readonly outcome: 'cancelled' }
  readonly attempt: Attempt
}

type Delivery = Pick<
  DeliveryRecord,
  'webhook' | 'kind' | 'sequence' | 'detail' | 'trigger' | 'attempts'
>

/** Never rejects because of what a receiver does. @param delivery with the attempts made before */
export async function attemptDelivery(
  context: AttemptContext,
  delivery: Delivery,
  entry: BookEntry,
  occurrence: Occurrence,
  signal: AbortSignal,
): Promise<Attempted> {
  const atMs = context.wallMs()
  const body = bodyOf(occurrence)
  const id = deliveryId(occurrence, delivery.kind, entry.webhook.id)
  const attempts = delivery.attempts + 1
  const prepared = prepare(context, entry, { id, body, atMs })
  const sent =
    'headers' in prepared
      ? await context.sender.send({
          webhook: entry.number,
          url: prepared.url,
          headers: prepared.headers,
          body,
          signal,
        })
      : nothingSent(prepared.error, prepared.detail)
  const verdict = verdictOf(context, sent, attempts)
  return {
    verdict,
    attempt: {
      delivery: id,
      key: keyText(delivery),
      webhook: entry.webhook.id,
      event: delivery.kind,
      trigger: delivery.trigger,
      attempt: attempts,
      at: formatIso(atMs),
      outcome: verdict.outcome,
      ...errorOf(sent),
      next_attempt_at:
        verdict.outcome === 'retry' ? formatIso(context.wallMs() + verdict.inMs) : null,
      request: {
        url: entry.webhook.url,
        address: sent.address ?? null,
        headers: 'headers' in prepared ? Object.entries(prepared.headers).map(pair) : [],
        body_bytes: body.length,
        body: Buffer.from(body).toString(),
      },
      response: sent.answer === undefined ? null : describeAnswer(sent.answer),
      timings: {
        resolve: rounded(sent.timings.resolveMs),
        connect: rounded(sent.timings.connectMs),
        first_byte: rounded(sent.timings.firstByteMs),
        total: rounded(sent.timings.totalMs),
      },
    },
  }
}

type Prepared =
  | { readonly url: string; readonly headers: Record<string, string> }
  | { readonly error: AttemptError; readonly detail: string }

/** The rules may have become stricter since the webhook was created, so its URL is judged again. */
function prepare(
  { book, signatureHeader, userAgent, allowInsecure }: AttemptContext,
  entry: BookEntry,
  { id, body, atMs }: { readonly id: string; readonly body: Uint8Array; readonly atMs: number },
): Prepared {
  const verdict = judgeWebhookUrl(entry.webhook.url, { allowInsecure })
  if ('fault' in verdict) return { error: 'url', detail: verdict.fault }
  try {
    const timestampSeconds = Math.floor(atMs / secondMs)
    const secrets = book.secretsOf(entry, atMs)
    const signed = { id, timestampSeconds, body }
    return {
      url: verdict.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        accept: '*/*',
        ...signatureHeaders(secrets, signed, signatureHeader),
      },
    }
  } catch (error) {
    return { error: 'secret', detail: inWords(error) }
  }
}

const nothingSent = (kind: AttemptError, detail: string): Sent => ({
  answer: undefined,
  error: { kind, detail },
  address: undefined,
  timings: { resolveMs: undefined, connectMs: undefined, firstByteMs: undefined, totalMs: 0 },
})

function verdictOf(
  { wallMs, random }: AttemptContext,
  { answer, error }: Sent,
  attempts: number,
): Attempted['verdict'] {
  if (error?.kind === 'cancelled') return { outcome: 'cancelled' }
  const retryAfter = answer?.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
  return judgeAttempt(
    {
      // an answer that broke off half-way does not count as one
      status: error === undefined ? answer?.status : undefined,
      isTimeout: error?.kind === 'timeout' || error?.kind === 'connect_timeout',
      retryAfterMs: parseRetryAfter(retryAfter, wallMs(), Date.parse),
    },
    attempts,
    random(),
  )
}

function errorOf({ answer, error }: Sent): Pick<Attempt, 'error' | 'error_detail'> {
  if (error !== undefined) return { error: error.kind, error_detail: error.detail }
  const isFine = answer !== undefined && answer.status >= 200 && answer.status < 300
  return isFine
    ? { error: null, error_detail: null }
    : { error: 'status', error_detail: `answered ${answer?.status}` }
}

const pair = ([name, value]: readonly [string, string]): [string, string] => [name, value]
const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 10) / 10

/**
 * Attempts go to ATT for people to read; no state is recovered from them. So no process waits for
 * an acknowledgement, and a server that is away costs at most the attempts under way.
 */
export type AttemptsLog = (attempt: Attempt) => void

export const attemptsLog =
  (nc: NatsConnection): AttemptsLog =>
  (attempt) => {
    if (!nc.isClosed()) nc.publish(attemptSubject(attempt.webhook), JSON.stringify(attempt))
  }
