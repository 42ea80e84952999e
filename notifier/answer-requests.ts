/** Answers requests to a shard's owner (`schemas/webhooks/webhook-requests.ts`). */

import { randomUUID } from 'node:crypto'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import {
  type DeliveryKey,
  type DeliveryRecord,
  keyText,
  type LedgerRecord,
  parseKeyText,
  sourceNames,
  sourceOf,
} from '../core/delivery/delivery.ts'
import {
  deliveryAt,
  findSlot,
  hasMark,
  type Ledger,
  slotMarks,
  slotStates,
  slotsOf,
  stateOf,
} from '../core/delivery/ledger.ts'
import { shardOf, webhookNumberOf } from '../core/delivery/webhook-id.ts'
import { formatIso, parseIso } from '../core/iso-time.ts'
import { askSubject } from '../schemas/subjects.ts'
import {
  type AskRefusal,
  isShardRequest,
  type ShardRequest,
  type ShardStatus,
  type WaitingDelivery,
  type WebhookReply,
  type WebhookRequest,
} from '../schemas/webhooks/webhook-requests.ts'
import { samplePayload } from '../schemas/webhooks/webhook-samples.ts'
import type { Wal } from './ledger/wal.ts'
import type { CatchUp } from './match/catch-up.ts'
import type { Matcher } from './match/matcher.ts'
import { type AttemptContext, type AttemptsLog, attemptDelivery } from './send/attempt.ts'
import { deliveryId } from './sources/payload.ts'
import type { Sources } from './sources/source.ts'
import { type BookEntry, sourcesOf } from './webhook-book.ts'

type Options = AttemptContext & {
  readonly nc: NatsConnection
  readonly shard: number
  readonly ledger: Ledger
  readonly wal: Wal
  readonly matcher: Matcher
  readonly catchUp: CatchUp
  readonly sources: Sources
  readonly publishAttempt: AttemptsLog
  readonly status: () => ShardStatus
  readonly nowMs: () => number
  readonly isInFlight: (delivery: DeliveryRecord) => boolean
  readonly stop: AbortSignal
  readonly onFailure: (error: unknown) => void
}

type Ask<Op extends WebhookRequest['op']> = Extract<WebhookRequest, { op: Op }>

class Refusal extends Error {
  readonly code: AskRefusal

  constructor(code: AskRefusal, message: string) {
    super(message)
    this.code = code
  }
}

export function answerRequests(options: Options): Disposable {
  const { nc, shard, onFailure } = options
  const subscription: Subscription = nc.subscribe(askSubject(shard), {
    callback: (error, message) => {
      if (error) onFailure(error)
      else void respond(options, message).catch(onFailure)
    },
  })
  return { [Symbol.dispose]: () => subscription.unsubscribe() }
}

async function respond(options: Options, message: Msg): Promise<void> {
  const reply = await replyTo(options, message).catch((error: unknown): WebhookReply => {
    if (error instanceof Refusal) return { ok: false, code: error.code, message: error.message }
    options.onFailure(error)
    return {
      ok: false,
      code: 'busy',
      message: 'the owner of the shard cannot answer now: try again',
    }
  })
  message.respond(JSON.stringify(reply))
}

async function replyTo(options: Options, message: Msg): Promise<WebhookReply> {
  const request = parse(message)
  if (request.op === 'status') return { ok: true, op: 'status', status: options.status() }
  const number = webhookNumberOf(request.webhook) ?? -1
  const entry = options.book.get(number)
  if (entry === undefined || shardOf(number) !== options.shard)
    throw new Refusal('unknown_webhook', `shard ${options.shard} has no ${request.webhook}`)
  switch (request.op) {
    case 'list':
      return await list(options, entry, request)
    case 'replay':
      return await replay(options, entry, request)
    case 'recover':
      return await recover(options, entry, request)
    case 'test':
      return await test(options, entry, request)
  }
}

function parse(message: Msg): ShardRequest {
  let value: unknown
  try {
    value = message.json()
  } catch {
    throw new Refusal('bad_request', 'the request is not JSON')
  }
  if (isShardRequest(value)) return value
  throw new Refusal('bad_request', 'the request does not match the schema airproof/webhook-request')
}

const describedAtOnce = 8

async function list(options: Options, entry: BookEntry, ask: Ask<'list'>): Promise<WebhookReply> {
  const { ledger, matcher } = options
  const wanted = ask.state === 'dead' ? slotStates.dead : slotStates.pending
  const matches = [...slotsOf(ledger, entry.number)].filter(
    (slot) => stateOf(ledger, slot) === wanted,
  )
  const deliveries = matches
    .map((slot) => deliveryAt(ledger, slot))
    .toSorted((a, b) => a.dueMs - b.dueMs)
    .slice(0, ask.limit)
  const described: WaitingDelivery[] = []
  // describing a delivery may mean reading a message of 2,000 readings
  for (let i = 0; i < deliveries.length; i += describedAtOnce) {
    const some = deliveries.slice(i, i + describedAtOnce)
    described.push(
      ...(await Promise.all(some.map((delivery) => describe(options, entry, delivery)))),
    )
  }
  return {
    ok: true,
    op: 'list',
    total: matches.length,
    deliveries: described,
    is_behind: sourceNames.some((source) => matcher.behindOf(entry.number, source) > 0),
  }
}

async function describe(
  { sources, isInFlight }: Options,
  entry: BookEntry,
  delivery: DeliveryRecord,
): Promise<WaitingDelivery> {
  const occurrence = await sources[sourceOf(delivery.kind)].occurrence(delivery)
  const isDead = delivery.type === 'dead'
  return {
    delivery:
      occurrence === undefined ? '' : deliveryId(occurrence, delivery.kind, entry.webhook.id),
    key: keyText(delivery),
    event: delivery.kind,
    trigger: delivery.trigger,
    state: isDead ? 'dead' : isInFlight(delivery) ? 'in_flight' : 'pending',
    attempts: delivery.attempts,
    due_at: isDead ? null : formatIso(delivery.dueMs),
  }
}

async function replay(
  options: Options,
  entry: BookEntry,
  ask: Ask<'replay'>,
): Promise<WebhookReply> {
  const { ledger, wal, matcher, nowMs } = options
  const parsed = parseKeyText(ask.key)
  if (parsed === undefined)
    throw new Refusal('unknown_delivery', `${ask.key} is not the key of a delivery`)
  if (!entry.webhook.active) throw new Refusal('disabled', 'the webhook is disabled')
  const key: DeliveryKey = { ...parsed, webhook: entry.number }
  const occurrence = await options.sources[sourceOf(key.kind)].occurrence(key)
  if (occurrence === undefined)
    throw new Refusal('unknown_delivery', 'the event of this delivery is not stored any more')
  const slot = findSlot(ledger, key)
  const record = slot === undefined ? matcher.create(key, 'replay') : again(ledger, slot, nowMs())
  if (record !== undefined) wal.add([record])
  await wal.settled()
  return { ok: true, op: 'replay', delivery: deliveryId(occurrence, key.kind, entry.webhook.id) }
}

/** A waiting delivery becomes due now; undefined: an attempt of it is already under way. */
function again(ledger: Ledger, slot: number, nowMs: number): LedgerRecord | undefined {
  if (hasMark(ledger, slot, slotMarks.active)) return undefined
  const delivery = deliveryAt(ledger, slot)
  const attempts = delivery.type === 'dead' ? 0 : delivery.attempts
  return { ...delivery, type: 'wait', trigger: 'replay', attempts, dueMs: nowMs }
}

async function recover(
  options: Options,
  entry: BookEntry,
  ask: Ask<'recover'>,
): Promise<WebhookReply> {
  const { wal, matcher, catchUp, sources } = options
  const since = parseIso(ask.since)
  if (!('timeMs' in since))
    throw new Refusal('bad_request', '"since" must be an ISO time with an offset')
  if (!entry.webhook.active) throw new Refusal('disabled', 'the webhook is disabled')
  const sinceMs = Math.max(since.timeMs, entry.createdMs)
  const records: LedgerRecord[] = []
  for (const source of sourcesOf(entry.webhook)) {
    const from = (await sources[source].cursorSince(sinceMs)) + 1
    const behind = matcher.behindOf(entry.number, source)
    // events that are not matched yet will be matched anyway
    if (from > (matcher.cursor(source) ?? 0)) continue
    if (behind > 0 && behind <= from) continue
    records.push(matcher.setBehind(entry.number, source, from))
  }
  if (records.length > 0) {
    catchUp.markRecovering(entry.number)
    wal.add(records)
    await wal.settled()
  }
  catchUp.look(entry.number)
  return { ok: true, op: 'recover' }
}

async function test(options: Options, entry: BookEntry, ask: Ask<'test'>): Promise<WebhookReply> {
  // a webhook that its receiver ended with 410 may be tested before it is resumed
  if (entry.webhook.disabled?.reason === 'operator')
    throw new Refusal('disabled', 'the operator has disabled the webhook')
  // an id of its own, or a receiver would take it for a duplicate of the test before
  const payload = samplePayload(ask.event, options.wallMs())
  const occurrence = { id: `test-${randomUUID()}`, payload }
  const { attempt } = await attemptDelivery(
    options,
    {
      webhook: entry.number,
      kind: ask.event,
      sequence: 0,
      detail: 0,
      trigger: 'test',
      attempts: 0,
    },
    entry,
    occurrence,
    options.stop,
  )
  options.publishAttempt(attempt)
  return { ok: true, op: 'test', attempt }
}
