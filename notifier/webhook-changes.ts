/** Applies a change of a webhook to the deliveries that wait for it. */
import { shardOf, type WebhookNumber } from '../core/delivery/webhook-id.ts'
import type { ShardWork } from './shard-work.ts'

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
