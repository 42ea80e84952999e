/**
 * How far the store holds each partition, told to the other processes: KV `system`, one key a
 * process. The statistics job asks before it counts a reading that another process writes.
 */
import type { KV } from '@nats-io/kv'
import type { WatchedBucket } from '../../runtime/nats/watched-bucket.ts'
import { storedKey, storedPrefix } from '../../schemas/system-keys.ts'

export type Positions = Readonly<Record<string, number>>

export const parsePositions = (value: unknown, key: string): Positions | undefined =>
  key.startsWith(storedPrefix) && isPositions(value) ? value : undefined

const isPositions = (value: unknown): value is Positions =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((position) => typeof position === 'number')

/** Puts the positions if they changed since the last call. */
export function positionTeller(kv: KV, holder: string): (positions: Positions) => Promise<void> {
  let told = ''
  return async (positions) => {
    const text = JSON.stringify(positions)
    if (text === told) return
    await kv.put(storedKey(holder), text)
    told = text
  }
}

/** The farthest position any process has told of a partition: each was true when it was told. */
export function farthest(told: WatchedBucket<Positions>, partition: number): number {
  let position = 0
  for (const [, positions] of told.entries()) {
    position = Math.max(position, positions[partition] ?? 0)
  }
  return position
}
