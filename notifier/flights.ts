/** Attempts under way: from the scheduler's turn to the record of how each ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { clearMark, slotMarks } from '../core/delivery/ledger.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import { secondMs } from '../core/time.ts'
import type { Endpoint, Flight } from './scheduler/endpoint.ts'
import type { Scheduler } from './scheduler/scheduler.ts'
import type { ShardWork } from './shard-work.ts'
import { dropIfDeleted } from './webhook-changes.ts'

/** How long an attempt under way at shutdown may take; then it is aborted, and made again later. */
const lastAttemptsMs = 4 * secondMs
const lookAgainMs = 20

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

/** The attempt's result is durable: the slot has no attempt any more. */
export function landFlight(
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

const flightsOf = (scheduler: Scheduler): Flight[] =>
  [...scheduler.endpoints()].flatMap(({ inFlight }) => [...inFlight.values()])

/** At shutdown: waits for attempts under way, and aborts those that take too long. */
export async function lastFlights(scheduler: Scheduler): Promise<void> {
  const untilMs = performance.now() + lastAttemptsMs
  while (flightsOf(scheduler).some(({ isDone }) => !isDone) && performance.now() < untilMs)
    await sleep(lookAgainMs)
  for (const { abort } of flightsOf(scheduler)) abort.abort()
}
