/**
 * Bucket `quota`: changed by compare and swap alone, and watched, so that most changes start from
 * what lies in memory. Memory may be behind: then the swap is refused, and the count is read.
 */
import { jetstream } from '@nats-io/jetstream'
import { Kvm, KvWatchInclude } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Count, noCount } from '../../core/access/quota.ts'
import { secondMs } from '../../core/time.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { decodeCount, encodeCount } from '../../schemas/people/quota.ts'
import { buckets } from '../../schemas/subjects.ts'

export type KnownCount = {
  readonly count: Count
  /** Of the bucket; 0: there is nothing yet. */
  readonly revision: number
}

export type QuotaBucket = {
  /** What memory holds: the newest that was read, written or watched. */
  readonly known: (key: string) => KnownCount | undefined
  /** Asks the leader; memory holds it afterwards. */
  readonly read: (key: string) => Promise<KnownCount>
  /**
   * Durable when it resolves to true; false: somebody else was first, and memory forgets the key.
   * Where it throws nobody knows whether it was written, and memory forgets the key too.
   */
  readonly swap: (key: string, from: KnownCount, to: Count) => Promise<boolean>
}

const none: KnownCount = { count: noCount, revision: 0 }

type Options = {
  /** Bound on what memory holds; what came first goes first, and is read again. */
  readonly most?: number
  /** A server that syncs each write to a busy disk takes its time; one that is away shows elsewhere. */
  readonly timeoutMs?: number
}

export async function openQuotaBucket(
  nc: NatsConnection,
  { most = 100_000, timeoutMs = 5 * secondMs }: Options = {},
): Promise<QuotaBucket & AsyncDisposable> {
  const kv = await new Kvm(jetstream(nc, { timeout: timeoutMs })).open(buckets.quota)
  const counts = new Map<string, KnownCount>()
  const keep = (key: string, found: KnownCount): KnownCount => {
    const before = counts.get(key)
    // a watch may tell of what was overtaken long ago
    if (before !== undefined && before.revision >= found.revision) return before
    counts.set(key, found)
    const [oldest] = counts.keys()
    if (counts.size > most && oldest !== undefined) counts.delete(oldest)
    return found
  }
  /** Unless the watch has brought something newer, which is then what the next swap is from. */
  const forget = (key: string, revision: number): void => {
    if (counts.get(key)?.revision === revision) counts.delete(key)
  }

  const changes = await kv.watch({ include: KvWatchInclude.UpdatesOnly })
  const pump = (async () => {
    for await (const { key, revision, operation, value } of changes) {
      try {
        const text = operation === 'PUT' ? utf8.decode(value) : ''
        keep(key, { count: decodeCount(text), revision })
      } catch {
        // whoever charges the account reads it, and is told what is wrong with it
        counts.delete(key)
      }
    }
  })()

  return {
    known: (key) => counts.get(key),
    read: async (key) => {
      const subject = `$KV.${buckets.quota}.${key}`
      const found = await lastMessage(nc, `KV_${buckets.quota}`, subject, { timeout: timeoutMs })
      if (found === undefined) {
        counts.set(key, none)
        return none
      }
      return keep(key, { count: decodeCount(utf8.decode(found.data)), revision: found.seq })
    },
    swap: async (key, { revision }, to) => {
      try {
        const write = kv.put(key, encodeCount(to), { previousSeq: revision })
        const written = await unlessOvertaken(write)
        if (written === 'overtaken') forget(key, revision)
        else keep(key, { count: to, revision: written })
        return written !== 'overtaken'
      } catch (error) {
        forget(key, revision)
        throw error
      }
    },
    [Symbol.asyncDispose]: async () => {
      changes.stop()
      await pump
    },
  }
}

const utf8 = new TextDecoder()
