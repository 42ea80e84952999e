/**
 * Bucket `quota`: changed only by compare and swap, and watched, so that most changes start from
 * the copy in memory. If the copy is out of date, the swap is refused, and the count is read again.
 */
import { jetstream } from '@nats-io/jetstream'
import { Kvm, KvWatchInclude } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Count, noCount } from '../../core/access/quota.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { secondMs } from '../../core/time.ts'
import { unlessOvertaken } from '../../runtime/nats/cas.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { decodeCount, encodeCount } from '../../schemas/people/quota.ts'
import { buckets } from '../../schemas/subjects.ts'

export type KnownCount = {
  readonly count: Count
  /** The entry's revision in the bucket; 0: it does not exist yet. */
  readonly revision: number
}

export type QuotaBucket = {
  /** The copy in memory: the newest count that was read, written or watched. */
  readonly known: (key: string) => KnownCount | undefined
  /** Reads from the stream's leader; memory holds the result afterwards. */
  readonly read: (key: string) => Promise<KnownCount>
  /**
   * Durable when it resolves to true; false: another process wrote first, and memory forgets the
   * key. If it throws, it is not known whether the count was written, and memory forgets the key
   * too.
   */
  readonly swap: (key: string, from: KnownCount, to: Count) => Promise<boolean>
}

const none: KnownCount = { count: noCount, revision: 0 }

type Options = {
  /** Bound on the copies in memory; the one set the longest time ago is evicted, and read again. */
  readonly most?: number
  /** A server that syncs each write to a busy disk is slow; one that is away shows elsewhere. */
  readonly timeoutMs?: number
}

export async function openQuotaBucket(
  nc: NatsConnection,
  { most = 100_000, timeoutMs = 5 * secondMs }: Options = {},
): Promise<QuotaBucket & AsyncDisposable> {
  const kv = await new Kvm(jetstream(nc, { timeout: timeoutMs })).open(buckets.quota)
  const counts = new BoundedMap<string, KnownCount>(most)
  const keep = (key: string, latest: KnownCount): KnownCount => {
    const before = counts.get(key)
    // a watch may report a count that was overtaken long ago
    if (before !== undefined && before.revision >= latest.revision) return before
    counts.set(key, latest)
    return latest
  }
  /** Unless the watch has reported a newer count, which the next swap then starts from. */
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
        // the next charge of the account reads it, and throws the reason
        counts.delete(key)
      }
    }
  })()

  return {
    known: (key) => counts.get(key),
    read: async (key) => {
      const subject = `$KV.${buckets.quota}.${key}`
      const message = await lastMessage(nc, `KV_${buckets.quota}`, subject, { timeout: timeoutMs })
      if (message === undefined) {
        counts.set(key, none)
        return none
      }
      return keep(key, { count: decodeCount(utf8.decode(message.data)), revision: message.seq })
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
