/**
 * Tells the anchor what of READINGS the shards still need (`needed.notifier.<shard>` in bucket
 * `system`, read by `anchor/trim.ts`). What was told holds on while no process has the shard.
 */
import type { KV } from '@nats-io/kv'
import type { Logger } from '../runtime/log.ts'
import { neededByShard } from '../schemas/system-keys.ts'
import type { Shard } from './shard.ts'

export type Needs = {
  /** Tells what has changed. Never rejects: what was not taken is told the next time. */
  readonly tell: () => Promise<void>
}

export function openNeeds(system: KV, shards: () => readonly Shard[], log: Logger): Needs {
  /** By the owner, not the number: another process may have told of a shard that we had before. */
  const told = new WeakMap<Shard, string>()
  let telling: Promise<void> = Promise.resolve()

  const tellOf = async (owner: Shard): Promise<void> => {
    const text = JSON.stringify({ readings: owner.neededReadings() ?? null })
    if (told.get(owner) === text) return
    await system.put(neededByShard(owner.shard), text)
    told.set(owner, text)
  }
  const tellAll = async (): Promise<void> => {
    try {
      for (const owner of shards()) await tellOf(owner)
    } catch (error) {
      log.debug({ err: error }, 'what of READINGS is needed was not told')
    }
  }
  return {
    tell: () => {
      telling = telling.then(tellAll)
      return telling
    },
  }
}
