import { criticalAqi, defaultAqiThreshold } from '../../core/air/thresholds.ts'
import type { WatchedBucket } from '../../runtime/nats/buckets/watched-bucket.ts'

/** The thresholds in use: those of `aqi.high` by default and `aqi.critical`, and every webhook's. */
export const standingThresholds = [defaultAqiThreshold, criticalAqi] as const

/** @returns the threshold a webhook names, floored since aqi is whole; undefined where it names none */
export function thresholdOf(webhook: unknown): number | undefined {
  if (typeof webhook !== 'object' || webhook === null || !('filters' in webhook)) return undefined
  const { filters } = webhook
  if (typeof filters !== 'object' || filters === null || !('aqi_threshold' in filters))
    return undefined
  const { aqi_threshold: threshold } = filters
  // what no schema has let through would cost each reading
  return typeof threshold === 'number' && threshold >= 0 && threshold <= 500
    ? Math.floor(threshold)
    : undefined
}

/** Sorted, each once. */
export const thresholdsInUse = (webhooks: Iterable<number>): readonly number[] =>
  [...new Set([...standingThresholds, ...webhooks])].toSorted((a, b) => a - b)

/** Sorted again when it is next asked for: thousands of webhooks may change at once. */
export function thresholdsOf(
  webhooks: Pick<WatchedBucket<number>, 'entries' | 'onChange'>,
): () => readonly number[] {
  let sorted: readonly number[] | undefined
  webhooks.onChange(() => {
    sorted = undefined
  })
  return () =>
    (sorted ??= thresholdsInUse([...webhooks.entries()].map(([, threshold]) => threshold)))
}
