/**
 * When each key was last used, to the minute, for the lists that people look through before they
 * revoke one. Written in the background: requests never wait for it.
 */
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIso } from '../../core/iso-time.ts'
import { floorTo, minuteMs, secondMs } from '../../core/time.ts'
import { buckets } from '../../schemas/subjects.ts'

export type KeyUses = AsyncDisposable & { readonly note: (key: string) => void }

type Options = {
  readonly nowMs: () => number
  /** Bound on the keys remembered; the use of a forgotten key may be written once too often. */
  readonly most?: number
}

const timeoutMs = 2 * secondMs

export async function openKeyUses(
  nc: NatsConnection,
  { nowMs, most = 100_000 }: Options,
): Promise<KeyUses> {
  const kv = await new Kvm(jetstream(nc, { timeout: timeoutMs })).open(buckets.used)
  /** Key → the minute that was written, or is about to be. */
  const written = new BoundedMap<string, number>(most)
  const pending = new Set<string>()
  let writing: Promise<void> | undefined
  let isStopped = false

  const write = async (): Promise<void> => {
    for (const key of pending) {
      pending.delete(key)
      if (isStopped) continue
      const usedMs = written.get(key)
      if (usedMs === undefined) continue
      try {
        await kv.put(key, JSON.stringify(formatIso(usedMs)))
      } catch {
        // the use of the next minute is written again
      }
    }
    writing = undefined
  }

  return {
    note: (key) => {
      const minute = floorTo(nowMs(), minuteMs)
      if (written.get(key) === minute) return
      written.set(key, minute)
      pending.add(key)
      writing ??= write()
    },
    [Symbol.asyncDispose]: async () => {
      isStopped = true
      await writing
    },
  }
}
