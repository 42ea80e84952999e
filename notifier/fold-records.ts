/**
 * Applies records that are durable in the ledger's log to the owner's state: the ledger, the due
 * times, the attempts that ended and the webhooks that were deleted.
 */
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
import type { LedgerRecord } from '../core/delivery/ledger-record.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import { landFlight } from './flights.ts'
import type { ShardWork } from './shard-work.ts'
import { dropIfDeleted } from './webhook-changes.ts'

/** Most dead deliveries stored per webhook; beyond it the oldest are deleted, several at a time. */
const mostDead = 1_000
const deadAtOnce = 100

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

function forget({ ledger, scheduler, matcher, dropping }: ShardWork, webhook: WebhookNumber): void {
  scheduler.forget(webhook)
  matcher.forget(webhook)
  dropping.delete(webhook)
  for (const slot of slotsOf(ledger, webhook)) {
    scheduler.unschedule(slot)
    clearMark(ledger, slot, slotMarks.active)
  }
}

function limitDead({ ledger, wal }: ShardWork, webhook: WebhookNumber): void {
  if ((ledger.hooks.get(webhook)?.dead ?? 0) < mostDead + deadAtOnce) return
  const oldest = [...slotsOf(ledger, webhook)]
    .filter((slot) => stateOf(ledger, slot) === slotStates.dead)
    .map((slot) => deliveryAt(ledger, slot))
    .toSorted((a, b) => a.dueMs - b.dueMs)
    .slice(0, deadAtOnce)
  wal.add(oldest.map((delivery) => ({ ...delivery, type: 'done' as const })))
}
