import type { NotifierMetrics } from './metrics.ts'
import type { Limits } from './scheduler/limits.ts'
import type { Shard } from './shard.ts'
import type { WebhookBook } from './webhook-book.ts'

type Watched = {
  readonly shards: () => readonly Shard[]
  readonly limits: Pick<Limits, 'inFlight'>
  readonly book: Pick<WebhookBook, 'size'>
}

/** What an operator sees of this process's shards at any time. */
export function openGauges(
  { gauge }: Pick<NotifierMetrics, 'gauge'>,
  { shards, limits, book }: Watched,
): void {
  const sum = (count: (shard: Shard) => number): number =>
    shards().reduce((total, shard) => total + count(shard), 0)
  gauge(
    'airproof_webhook_oldest_due_seconds',
    'How long the oldest delivery that could be sent has been due: the alarm',
    () => Math.max(0, ...shards().map((shard) => shard.oldestDueMs())) / 1_000,
  )
  gauge('airproof_webhook_in_breaker', 'Endpoints paused after failures', () =>
    sum((shard) => shard.inBreaker()),
  )
  gauge('airproof_webhook_pending', 'Deliveries that wait for an attempt', () =>
    sum((shard) => shard.counts().pending),
  )
  gauge('airproof_webhook_dead', 'Deliveries given up and stored for a replay', () =>
    sum((shard) => shard.counts().dead),
  )
  gauge('airproof_webhook_in_flight', 'Attempts under way', limits.inFlight)
  gauge('airproof_webhooks', 'Webhooks known', book.size)
}
