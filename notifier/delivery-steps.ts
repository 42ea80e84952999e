/**
 * The steps of a delivery in its shard: an attempt begins when the scheduler gives it its turn, and what
 * became of it is a record; a record that is durable is applied to the owner's state: the ledger,
 * the due times, the attempts that ended. A deleted webhook ends all of its deliveries.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { LedgerRecord } from '../core/delivery/delivery.ts'
import {
  applyRecord,
  clearMark,
  deliveryAt,
  hasMark,
  slotMarks,
  slotStates,
  slotsOf,
  stateOf,
} from '../core/delivery/ledger.ts'
import { shardOf, type WebhookNumber } from '../core/delivery/webhook-id.ts'
import { secondMs } from '../core/time.ts'
import type { Endpoint, Flight } from './scheduler/endpoints.ts'
import type { Scheduler } from './scheduler/scheduler.ts'
import type { ShardWork } from './shard-work.ts'

/** Never rejects because of what a receiver does. */
export async function beginFlight(
  work: ShardWork,
  endpoint: Endpoint,
  slot: number,
): Promise<void> {
  const { context, ledger, wal, scheduler, deliver } = work
  const { book, limits } = context
  const flight = { abort: new AbortController(), isDone: false }
  endpoint.inFlight.set(slot, flight)
  const { isProven } = endpoint
  const account = book.get(endpoint.number)?.account ?? ''
  const { records } = await deliver(endpoint, slot, flight)
  flight.isDone = true
  endpoint.busy--
  if (records.length > 0) {
    limits.resultsWaiting(1)
    wal.add(records)
  } else {
    // cancelled: the slot stays as it is, and is dropped or tried again
    endpoint.inFlight.delete(slot)
    clearMark(ledger, slot, slotMarks.active)
    if (!work.stop.aborted && !book.isGone(endpoint.number)) scheduler.schedule(slot)
    else dropIfDeleted(work, endpoint.number)
  }
  limits.give(account, isProven)
  scheduler.look(endpoint.number)
}

/** Applies a record that is durable in the log of the ledger. */
export function foldRecord(work: ShardWork, record: LedgerRecord): void {
  const { ledger, matcher, scheduler, catchUp } = work
  switch (record.type) {
    case 'new':
      applyRecord(ledger, record)
      matcher.folded(record.webhook)
      scheduler.schedule(record.slot)
      return
    case 'wait':
      landFlight(work, record.webhook, record.slot)
      scheduler.unschedule(record.slot)
      applyRecord(ledger, record)
      // replayed while an attempt was under way: the attempt's own record follows
      if (!hasMark(ledger, record.slot, slotMarks.active)) scheduler.schedule(record.slot)
      return
    case 'done':
    case 'dead':
      landFlight(work, record.webhook, record.slot)
      scheduler.unschedule(record.slot)
      applyRecord(ledger, record)
      if (record.type === 'dead') limitDead(work, record.webhook)
      catchUp.look(record.webhook)
      dropIfDeleted(work, record.webhook)
      return
    case 'hook':
      if (record.change.op === 'dropped') forget(work, record.webhook)
      applyRecord(ledger, record)
      catchUp.look(record.webhook)
      return
    case 'epoch':
  }
}

/** The attempt's result is durable: the slot has no attempt any more. */
function landFlight(
  { context, ledger, scheduler }: ShardWork,
  webhook: WebhookNumber,
  slot: number,
): void {
  const endpoint = scheduler.endpointOf(webhook)
  if (endpoint.inFlight.get(slot)?.isDone !== true) return
  endpoint.inFlight.delete(slot)
  clearMark(ledger, slot, slotMarks.active)
  context.limits.resultsWaiting(-1)
}

/** Most dead deliveries stored per webhook; beyond it the oldest are deleted, several at a time. */
const mostDead = 1_000
const deadAtOnce = 100

function limitDead({ ledger, wal }: ShardWork, webhook: WebhookNumber): void {
  if ((ledger.hooks.get(webhook)?.dead ?? 0) < mostDead + deadAtOnce) return
  const oldest = [...slotsOf(ledger, webhook)]
    .filter((slot) => stateOf(ledger, slot) === slotStates.dead)
    .map((slot) => deliveryAt(ledger, slot))
    .toSorted((a, b) => a.dueMs - b.dueMs)
    .slice(0, deadAtOnce)
  wal.add(oldest.map((delivery) => ({ ...delivery, type: 'done' as const })))
}

function forget({ ledger, scheduler, matcher, dropping }: ShardWork, webhook: WebhookNumber): void {
  scheduler.forget(webhook)
  matcher.forget(webhook)
  dropping.delete(webhook)
  for (const slot of slotsOf(ledger, webhook)) {
    scheduler.unschedule(slot)
    clearMark(ledger, slot, slotMarks.active)
  }
}

/** Applies a change of a webhook to the deliveries that wait for it. */
export function takeChange(work: ShardWork, webhook: WebhookNumber): void {
  const { context, shard, ledger, scheduler, catchUp } = work
  if (shardOf(webhook) !== shard) return
  if (context.book.get(webhook) !== undefined) {
    scheduler.look(webhook)
    catchUp.look(webhook)
    return
  }
  const { inFlight } = scheduler.endpointOf(webhook)
  if (!context.book.isGone(webhook) || !(ledger.hooks.has(webhook) || inFlight.size > 0)) return
  for (const { abort } of inFlight.values()) abort.abort()
  dropIfDeleted(work, webhook)
}

/** One record frees everything that waits for a deleted webhook, once no attempt is under way. */
export function dropIfDeleted(
  { context, scheduler, wal, dropping, stop }: ShardWork,
  webhook: WebhookNumber,
): void {
  if (!context.book.isGone(webhook) || dropping.has(webhook) || stop.aborted) return
  if (scheduler.endpointOf(webhook).inFlight.size > 0) return
  dropping.add(webhook)
  wal.add([{ type: 'hook', webhook, change: { op: 'dropped' } }])
}

/** How long an attempt under way at shutdown may take; then it is aborted, and made again later. */
const lastAttemptsMs = 4 * secondMs
const lookAgainMs = 20

const flightsOf = (scheduler: Scheduler): Flight[] =>
  [...scheduler.endpoints()].flatMap(({ inFlight }) => [...inFlight.values()])

/** At shutdown: waits for attempts under way, and aborts those that take too long. */
export async function lastFlights(scheduler: Scheduler): Promise<void> {
  const untilMs = performance.now() + lastAttemptsMs
  while (flightsOf(scheduler).some(({ isDone }) => !isDone) && performance.now() < untilMs)
    await sleep(lookAgainMs)
  for (const { abort } of flightsOf(scheduler)) abort.abort()
}
