import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { nothingExpired, parseRetention, type Retention } from '../../schemas/retention.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { MustAct } from '../exit.ts'
import { readEntry } from './buckets/read-entry.ts'
import { watchBucket } from './buckets/watched-bucket.ts'

export const readRetention = async (nc: NatsConnection): Promise<Retention> =>
  await retentionIn(await new Kvm(nc).open(buckets.system))

/**
 * @param system bucket `system`
 * @throws NewerFormat a later version wrote it  @throws MustAct it is damaged
 */
export async function retentionIn(system: KV): Promise<Retention> {
  const value = await readEntry(system, systemKeys.retention, 'not JSON')
  return value === undefined ? nothingExpired : retentionOf(value)
}

/** Of an entry that is there. @throws MustAct it is damaged */
export function retentionOf(value: unknown): Retention {
  const retention = parseRetention(value)
  if (retention !== undefined) return retention
  throw new MustAct(
    'key `retention` of KV `system` cannot be read, so it is not known which readings are only in the archive: restore it from a backup',
  )
}

export type WatchedRetention = AsyncDisposable & {
  /** As it was last read; it never goes back, so neither does this. */
  readonly now: () => Retention
  /** Resolves when `now` knows everything that was recorded before the call. */
  readonly barrier: () => Promise<void>
}

/**
 * The record of what is expired, current as it changes: it is written well before anything is deleted.
 * @throws NewerFormat, MustAct if it cannot be read
 */
export async function watchRetention(nc: NatsConnection): Promise<WatchedRetention> {
  const system = await watchBucket(nc, buckets.system, (value, key) =>
    key === systemKeys.retention ? parseRetention(value) : undefined,
  )
  await using opening = new AsyncDisposableStack()
  opening.use(system)
  let known = await retentionIn(system.kv)
  system.onChange(({ key, value }) => {
    // one that was damaged or deleted meanwhile takes nothing back
    if (key === systemKeys.retention) known = value ?? known
  })
  known = system.get(systemKeys.retention) ?? known
  const opened = opening.move()
  const { barrier } = system
  return { now: () => known, barrier, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
