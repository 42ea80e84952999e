/**
 * A KV bucket held in memory and kept current by a watch, so that a decision needs no I/O. Writes
 * go to the server; memory changes only when the watch delivers them.
 */
import type { PushConsumer } from '@nats-io/jetstream'
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv'
import type { NatsConnection, QueuedIterator } from '@nats-io/transport-node'
import { faultOfEntry } from '../../schemas/bucket-entries.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { reportBroken, whyOf } from '../broken.ts'
import { jsonOf } from './read-entry.ts'

export type Change<T> = {
  readonly key: string
  /** undefined: deleted */
  readonly value: T | undefined
}

export type WatchedBucket<T> = AsyncDisposable & {
  readonly get: (key: string) => T | undefined
  /** The key has an entry that cannot be read, which a caller may have to distinguish from a deletion. */
  readonly isBroken: (key: string) => boolean
  readonly entries: () => IterableIterator<[string, T]>
  readonly size: () => number
  /** The revision of the last change seen. */
  readonly revision: () => number
  /** Calls back on every change from now on, after memory holds it. Returns a function that stops it. */
  readonly onChange: (listener: (change: Change<T>) => void) => () => void
  /** Resolves when memory holds everything that was written before the call. */
  readonly barrier: () => Promise<void>
  /** The bucket itself, for writes. */
  readonly kv: KV
}

/** Where the client keeps the consumer is not in its types. */
type Watch = QueuedIterator<KvWatchEntry> & { readonly _data?: PushConsumer }

/**
 * Resolves when the whole bucket is in memory.
 * @param parse a value's JSON, its key and when it was written → T; what it refuses (undefined) is left out as if deleted. An entry
 * that violates the bucket's schema is reported once.
 * @param isReadOnly the caller decides nothing from it, so an entry of a later version is left out
 * @throws NewerFormat if there is such an entry; if it arrives later, it ends the process
 */
export async function watchBucket<T>(
  nc: NatsConnection,
  bucket: string,
  parse: (value: unknown, key: string, writtenMs: number) => T | undefined,
  { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
): Promise<WatchedBucket<T>> {
  const kv = await new Kvm(nc).open(bucket)
  const values = new Map<string, T>()
  const broken = new Set<string>()
  const listeners = new Set<(change: Change<T>) => void>()
  const waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>()
  let revision = 0

  const parsed = (entry: KvWatchEntry): T | undefined => {
    try {
      return parseEntry(entry, parse)
    } catch (error) {
      if (!(error instanceof NewerFormat)) throw error
      if (!isReadOnly) onNewer(error)
      return undefined
    }
  }
  const take = (entry: KvWatchEntry): void => {
    const value = entry.operation === 'PUT' ? parsed(entry) : undefined
    if (value === undefined) values.delete(entry.key)
    else values.set(entry.key, value)
    if (value === undefined && entry.operation === 'PUT') broken.add(entry.key)
    else broken.delete(entry.key)
    revision = entry.revision
    for (const listener of listeners) listener({ key: entry.key, value })
    for (const waiter of waiting) {
      if (waiter.revision > revision) continue
      waiting.delete(waiter)
      waiter.resolve()
    }
  }

  const lastRevision = async (): Promise<number> => (await kv.status()).streamInfo.state.last_seq
  const barrier = async (): Promise<void> => {
    const target = await lastRevision()
    if (target <= revision) return
    await new Promise<void>((resolve) => waiting.add({ revision: target, resolve }))
  }

  const newer = Promise.withResolvers<never>()
  newer.promise.catch(() => undefined)
  let isOpen = false
  const onNewer = (error: NewerFormat): void => {
    newer.reject(error)
    // the promise is no longer awaited: as a stray error it ends the process (`stray-error.ts`)
    if (isOpen) void Promise.reject(error)
  }
  const entries: Watch = await kv.watch()
  const pump = (async () => {
    for await (const entry of entries) take(entry)
  })()
  await Promise.race([barrier(), newer.promise])
  isOpen = true

  return {
    get: (key) => values.get(key),
    isBroken: (key) => broken.has(key),
    entries: () => values.entries(),
    size: () => values.size,
    revision: () => revision,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    barrier,
    kv,
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

/** The same with the bucket's own schema: entries that violate it are left out. */
export const watchChecked = async <T>(
  nc: NatsConnection,
  bucket: string,
): Promise<WatchedBucket<T>> =>
  await watchBucket(nc, bucket, (value, key) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bucket's own schema
    faultOfEntry(bucket, key, JSON.stringify(value)) === undefined ? (value as T) : undefined,
  )

function parseEntry<T>(
  entry: KvWatchEntry,
  parse: (value: unknown, key: string, writtenMs: number) => T | undefined,
): T | undefined {
  const value = jsonOf(entry, undefined)
  if (value === undefined) return undefined
  try {
    return parse(value, entry.key, entry.created.getTime())
  } catch (error) {
    const { bucket, key, revision } = entry
    reportBroken({ stream: `KV_${bucket}`, seq: revision, subject: key, why: whyOf(error) })
    return undefined
  }
}
