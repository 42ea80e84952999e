/**
 * How far the store holds each partition, published to the other processes: KV `system`, one key per
 * process. The statistics job reads them before it counts a reading that another process writes.
 */
import type { KV } from '@nats-io/kv'
import type { WatchedBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { storedKey, storedPrefix } from '../../schemas/system-keys.ts'

export type Positions = Readonly<Record<string, number>>

export const parsePositions = (value: unknown, key: string): Positions | undefined =>
  key.startsWith(storedPrefix) && isPositions(value) ? value : undefined

const isPositions = (value: unknown): value is Positions =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((position) => typeof position === 'number')

/** Puts the positions if they changed since the last call. */
export function positionPublisher(kv: KV, holder: string): (positions: Positions) => Promise<void> {
  let published = ''
  return async (positions) => {
    const text = JSON.stringify(positions)
    if (text === published) return
    await kv.put(storedKey(holder), text)
    published = text
  }
}

/** The farthest position of a partition that a process has published. Each was true when it was published. */
export function farthest(published: WatchedBucket<Positions>, partition: number): number {
  let position = 0
  for (const [, positions] of published.entries()) {
    position = Math.max(position, positions[partition] ?? 0)
  }
  return position
}
