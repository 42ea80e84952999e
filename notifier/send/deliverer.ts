/**
 * Handles a slot whose turn it is: an attempt, and the record of how it ended.
 *
 * Where the process may die: until the record is durable, whether the answer has arrived or not,
 * the next owner finds the delivery due and makes the attempt again, with the same id and bytes.
 */

import {
  afterFailure,
  closedBreaker,
  failedAt,
  judgeAttempt,
  judgeHealth,
} from '../../core/delivery/attempt-verdict.ts'
import {
  type DeliveryRecord,
  type Health,
  healthy,
  type LedgerRecord,
  sourceOf,
} from '../../core/delivery/delivery.ts'
import { deliveryAt, type Ledger } from '../../core/delivery/ledger.ts'
import type { WebhookNumber } from '../../core/delivery/webhook-id.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import { endSpan, type SpanFacts, spanStart } from '../../runtime/trace.ts'
import type { NotifierMetrics } from '../metrics.ts'
import type { Endpoint, Flight } from '../scheduler/endpoints.ts'
import type { Occurrence } from '../sources/payload.ts'
import type { Sources } from '../sources/source.ts'
import type { BookEntry } from '../webhook-book.ts'
import {
  type AttemptContext,
  type Attempted,
  type AttemptsLog,
  attemptDelivery,
} from './attempt.ts'

export type DelivererContext = AttemptContext & {
  readonly sources: Sources
  readonly publishAttempt: AttemptsLog
  readonly metrics: NotifierMetrics
  readonly pause: (ms: number) => Promise<void>
  /** 410, or five days of failures. */
  readonly onDisable: (
    entry: BookEntry,
    why: { readonly reason: 'gone' | 'failing'; readonly detail: string; readonly health: Health },
  ) => void
  /** The failure is ours, and concerns only this delivery. */
  readonly onBroken: (delivery: DeliveryRecord, error: unknown) => void
  /** The webhook's owner should get a warning. */
  readonly onWarning: (entry: BookEntry, health: Health) => void
}

type Options = {
  readonly ledger: Ledger
  readonly nowMs: () => number
  readonly entryOf: (webhook: WebhookNumber) => BookEntry | undefined
}

/** The end of an attempt: the records to write, none if it does not count. */
export type Delivered = { readonly records: readonly LedgerRecord[] }

export type Deliverer = (endpoint: Endpoint, slot: number, flight: Flight) => Promise<Delivered>

/** What happened to a sensor is named by its message of the log, a reading by its own number. */
function factsOf(
  { kind, sequence, attempts }: DeliveryRecord,
  { id }: Occurrence,
  { verdict: { outcome }, attempt }: Attempted,
): SpanFacts {
  const [name = '', place] = id.split('-')
  const number = Number(name)
  const log = kind === 'reading.new' ? sequence : place === undefined ? undefined : number
  return {
    ...(log === undefined ? {} : { log: [log] }),
    seqs: place === undefined && Number.isSafeInteger(number) ? [[number, number]] : [],
    attributes: {
      'airproof.event': kind,
      'airproof.webhook': attempt.webhook,
      'airproof.attempt': attempts + 1,
      'airproof.outcome': outcome,
    },
    fault: outcome === 'delivered' ? undefined : (attempt.error ?? outcome),
  }
}

const sourceRetryMs = 500
/** How often the failures of an endpoint are written. */
const healthEveryMs = minuteMs

export function createDeliverer(
  context: DelivererContext,
  { ledger, nowMs, entryOf }: Options,
): Deliverer {
  const { metrics } = context
  /** Newer than the ledger's, which holds what was written. */
  const healths = new Map<WebhookNumber, { health: Health; writtenMs: number }>()

  const healthOf = (webhook: WebhookNumber) => {
    const known = healths.get(webhook)
    if (known !== undefined) return known
    const created = { health: ledger.hooks.get(webhook)?.health ?? healthy, writtenMs: 0 }
    healths.set(webhook, created)
    return created
  }

  const succeeded = (endpoint: Endpoint): LedgerRecord[] => {
    endpoint.breaker = closedBreaker
    endpoint.isProven = true
    const known = ledger.hooks.get(endpoint.number)?.health ?? healthy
    const hadFailed = (healths.get(endpoint.number)?.health.failures ?? known.failures) > 0
    healths.delete(endpoint.number)
    if (!hadFailed) return []
    return [{ type: 'hook', webhook: endpoint.number, change: { op: 'health', ...healthy } }]
  }

  const failed = (endpoint: Endpoint, entry: BookEntry): LedgerRecord[] => {
    const now = nowMs()
    endpoint.breaker = afterFailure(endpoint.breaker, now, context.random())
    endpoint.isProven = false
    const tracked = healthOf(endpoint.number)
    const before = tracked.health
    tracked.health = failedAt(before, now)
    switch (judgeHealth(before, tracked.health)) {
      case 'disable':
        context.onDisable(entry, {
          reason: 'failing',
          detail: `${tracked.health.failures} failures in a row`,
          health: tracked.health,
        })
        break
      case 'warn':
        context.onWarning(entry, tracked.health)
        break
      case 'fine':
    }
    if (before.failures > 0 && now - tracked.writtenMs < healthEveryMs) return []
    tracked.writtenMs = now
    return [{ type: 'hook', webhook: endpoint.number, change: { op: 'health', ...tracked.health } }]
  }

  /** Waits while the server is away; undefined: the event is not stored any more. */
  const occurrenceOf = async (
    delivery: DeliveryRecord,
    signal: AbortSignal,
  ): Promise<Occurrence | 'cancelled' | undefined> => {
    while (!signal.aborted) {
      try {
        return await context.sources[sourceOf(delivery.kind)].occurrence(delivery)
      } catch (error) {
        if (!isServerAway(error)) throw error
        await context.pause(sourceRetryMs)
      }
    }
    return 'cancelled'
  }

  const conclude = (
    endpoint: Endpoint,
    delivery: DeliveryRecord,
    entry: BookEntry,
    { verdict, attempt }: Attempted,
  ): LedgerRecord[] => {
    const now = nowMs()
    const attempts = delivery.attempts + 1
    metrics.attempts.inc({ outcome: verdict.outcome })
    if (attempt.error !== null) metrics.errors.inc({ reason: attempt.error })
    switch (verdict.outcome) {
      case 'delivered':
        if (attempts === 1) metrics.latency.observe(Math.max(0, now - delivery.dueMs) / 1_000)
        return [{ ...delivery, type: 'done', attempts, dueMs: now }, ...succeeded(endpoint)]
      case 'retry':
        return [
          { ...delivery, type: 'wait', attempts, dueMs: now + verdict.inMs },
          ...failed(endpoint, entry),
        ]
      case 'dead':
        return [{ ...delivery, type: 'dead', attempts, dueMs: now }, ...failed(endpoint, entry)]
      case 'disabled':
        context.onDisable(entry, {
          reason: 'gone',
          detail: 'the receiver answered 410',
          health: healthy,
        })
        return [{ ...delivery, type: 'dead', attempts, dueMs: now }]
      case 'cancelled':
        return []
    }
  }

  const attemptOnce = async (
    endpoint: Endpoint,
    delivery: DeliveryRecord,
    entry: BookEntry,
    signal: AbortSignal,
  ): Promise<readonly LedgerRecord[]> => {
    const occurrence = await occurrenceOf(delivery, signal)
    if (occurrence === 'cancelled') return []
    if (occurrence === undefined) {
      metrics.gone.inc()
      return [{ ...delivery, type: 'dead', dueMs: nowMs() }]
    }
    const startMs = spanStart()
    const attempted = await attemptDelivery(context, delivery, entry, occurrence, signal)
    endSpan('delivery', startMs, () => factsOf(delivery, occurrence, attempted))
    context.publishAttempt(attempted.attempt)
    const { outcome } = attempted.verdict
    const hasEnded = outcome === 'delivered' || outcome === 'dead'
    // a replay is of an event of any age
    if (hasEnded && delivery.trigger === 'event') {
      const ageMs = nowMs() - Date.parse(occurrence.payload.timestamp)
      metrics.age.observe({ outcome }, Math.max(0, ageMs) / secondMs)
    }
    return conclude(endpoint, delivery, entry, attempted)
  }

  /** As after an attempt without an answer, but the endpoint's health does not change. */
  const later = (delivery: DeliveryRecord): LedgerRecord => {
    const attempts = delivery.attempts + 1
    const end = { status: undefined, isTimeout: false, retryAfterMs: undefined }
    const verdict = judgeAttempt(end, attempts, context.random())
    return verdict.outcome === 'retry'
      ? { ...delivery, type: 'wait', attempts, dueMs: nowMs() + verdict.inMs }
      : { ...delivery, type: 'dead', attempts, dueMs: nowMs() }
  }

  return async (endpoint, slot, { abort }) => {
    const delivery = deliveryAt(ledger, slot)
    const entry = entryOf(delivery.webhook)
    if (entry === undefined) return { records: [] }
    try {
      return { records: await attemptOnce(endpoint, delivery, entry, abort.signal) }
    } catch (error) {
      // it would fail again after a restart, and stop all other deliveries with it
      context.onBroken(delivery, error)
      return { records: [later(delivery)] }
    }
  }
}
