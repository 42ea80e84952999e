/**
 * Reports to the anchor which messages of READINGS the shards still need
 * (`needed.notifier.<shard>` in bucket `system`, read by `anchor/trim.ts`). A report stays in force
 * while no process owns the shard.
 */
import type { KV } from '@nats-io/kv'
import type { Logger } from '../runtime/log.ts'
import { neededByShard } from '../schemas/system-keys.ts'
import type { Shard } from './shard.ts'

export type Needs = {
  /** Reports what has changed. Never rejects: a report that failed is sent with the next one. */
  readonly report: () => Promise<void>
}

export function openNeeds(system: KV, shards: () => readonly Shard[], log: Logger): Needs {
  /** By shard object, not number: another process may have reported for a shard we owned before. */
  const reported = new WeakMap<Shard, string>()
  let reporting: Promise<void> = Promise.resolve()

  const reportOf = async (owner: Shard): Promise<void> => {
    const text = JSON.stringify({ readings: owner.neededReadings() ?? null })
    if (reported.get(owner) === text) return
    await system.put(neededByShard(owner.shard), text)
    reported.set(owner, text)
  }
  const reportAll = async (): Promise<void> => {
    try {
      for (const owner of shards()) await reportOf(owner)
    } catch (error) {
      log.debug({ err: error }, 'could not report which messages of READINGS are needed')
    }
  }
  return {
    report: () => {
      reporting = reporting.then(reportAll)
      return reporting
    },
  }
}
