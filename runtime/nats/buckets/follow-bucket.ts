/** The entries of a bucket as they are and as they change, in the order of their revisions. */
import type { PushConsumer, StreamState } from '@nats-io/jetstream'
import type { KV, KvWatchEntry, KvWatchOptions } from '@nats-io/kv'
import type { QueuedIterator } from '@nats-io/transport-node'

export type BucketFollower = AsyncDisposable & {
  /** The revision of the last change seen. */
  readonly revision: () => number
  /**
   * Resolves when everything was seen that was written before the call.
   * @param onReached called at that moment, before the next change is seen
   */
  readonly barrier: (onReached?: (state: BucketState) => void) => Promise<void>
}

type BucketState = Pick<StreamState, 'messages' | 'last_seq'>

/** Where the client keeps the consumer is not in its types. */
type Watch = QueuedIterator<KvWatchEntry> & { readonly _data?: PushConsumer }

/** @param from the last revision that is known; absent: none is */
export async function followBucket(
  kv: KV,
  take: (entry: KvWatchEntry) => void,
  from?: number,
): Promise<BucketFollower> {
  const waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>()
  let revision = from ?? 0

  const options: KvWatchOptions = from === undefined ? {} : { resumeFromRevision: from + 1 }
  const entries: Watch = await kv.watch(options)
  const pump = (async () => {
    for await (const entry of entries) {
      take(entry)
      revision = entry.revision
      for (const waiter of waiting) {
        if (waiter.revision > revision) continue
        waiting.delete(waiter)
        waiter.resolve()
      }
    }
  })()

  return {
    revision: () => revision,
    barrier: async (onReached) => {
      const { state } = (await kv.status()).streamInfo
      if (state.last_seq > revision)
        await new Promise<void>((resolve) => {
          waiting.add({
            revision: state.last_seq,
            resolve: () => {
              onReached?.(state)
              resolve()
            },
          })
        })
      else onReached?.(state)
    },
    [Symbol.asyncDispose]: async () => {
      entries.stop()
      await pump
      await removeConsumer(entries)
    },
  }
}

/**
 * The client leaves a watch's consumer to the server, which keeps it for five minutes and has a
 * limit of 1,000 per stream: a thousand looks at a bucket would refuse the next one.
 */
async function removeConsumer(entries: Watch): Promise<void> {
  // a server that is away removes it by itself
  await entries._data?.delete().catch(() => undefined)
}
