/**
 * A KV bucket held in memory and kept current by a watch, so that a decision needs no I/O. Writes
 * go to the server; memory changes only when the watch delivers them.
 */
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { NewerFormat } from '../../../schemas/formats.ts'
import { reportBroken, whyOf } from '../../broken.ts'
import { followBucket } from './follow-bucket.ts'
import { judgedEntry } from './read-entry.ts'

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

export type WatchOptions = {
  /** The caller decides nothing from it, so an entry of a later version is left out. */
  readonly isReadOnly?: boolean
}

/**
 * Makes a value of an entry.
 * @param isFine it matches its bucket's schema
 * @returns undefined: it is left out as if deleted
 */
export type ParseEntry<T> = (
  value: unknown,
  key: string,
  writtenMs: number,
  isFine: boolean,
) => T | undefined

/**
 * Resolves when the whole bucket is in memory. An entry that violates the bucket's schema is reported once.
 * @throws NewerFormat if there is an entry of a later version; if it arrives later, it ends the process
 */
export async function watchBucket<T>(
  nc: NatsConnection,
  bucket: string,
  parse: ParseEntry<T>,
  options: WatchOptions = {},
): Promise<WatchedBucket<T>> {
  const kv = await new Kvm(nc).open(bucket)
  const values = new Map<string, T>()
  const broken = new Set<string>()
  const listeners = new Set<(change: Change<T>) => void>()
  const judge = entryJudge(parse, options)

  const take = (entry: KvWatchEntry): void => {
    const { key } = entry
    const value = entry.operation === 'PUT' ? judge.parsed(entry) : undefined
    if (value === undefined) values.delete(key)
    else values.set(key, value)
    if (value === undefined && entry.operation === 'PUT') broken.add(key)
    else broken.delete(key)
    for (const listener of listeners) listener({ key, value })
  }
  const follower = await followBucket(kv, take)
  await judge.opened(follower.barrier())

  return {
    get: (key) => values.get(key),
    isBroken: (key) => broken.has(key),
    entries: () => values.entries(),
    size: () => values.size,
    revision: follower.revision,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    barrier: () => follower.barrier(),
    kv,
    [Symbol.asyncDispose]: () => follower[Symbol.asyncDispose](),
  }
}

export type ArrivedEntry = Pick<KvWatchEntry, 'bucket' | 'key' | 'revision' | 'created' | 'string'>

/** Values of entries as they arrive; one of a later version ends the opening, or later the process. */
export function entryJudge<T>(parse: ParseEntry<T>, { isReadOnly = false }: WatchOptions) {
  const newer = Promise.withResolvers<never>()
  newer.promise.catch(() => undefined)
  let isOpen = false
  const onNewer = (error: NewerFormat): void => {
    newer.reject(error)
    // the promise is no longer awaited: as a stray error it ends the process (`stray-error.ts`)
    if (isOpen) void Promise.reject(error)
  }
  return {
    /** @param entry that is there; what is wrong with it is reported */
    parsed: (entry: ArrivedEntry): T | undefined => {
      try {
        return parseEntry(entry, parse)
      } catch (error) {
        if (!(error instanceof NewerFormat)) throw error
        if (!isReadOnly) onNewer(error)
        return undefined
      }
    },
    /** @throws NewerFormat */
    opened: async (whole: Promise<void>): Promise<void> => {
      await Promise.race([whole, newer.promise])
      isOpen = true
    },
  }
}

/** The same with the bucket's own schema: entries that violate it are left out. */
export const watchChecked = async <T>(
  nc: NatsConnection,
  bucket: string,
): Promise<WatchedBucket<T>> =>
  await watchBucket(nc, bucket, (value, _key, _writtenMs, isFine) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bucket's own schema
    isFine ? (value as T) : undefined,
  )

function parseEntry<T>(entry: ArrivedEntry, parse: ParseEntry<T>): T | undefined {
  const { value, isFine } = judgedEntry(entry)
  if (value === undefined) return undefined
  try {
    return parse(value, entry.key, entry.created.getTime(), isFine)
  } catch (error) {
    const { bucket, key, revision } = entry
    reportBroken({ stream: `KV_${bucket}`, seq: revision, subject: key, why: whyOf(error) })
    return undefined
  }
}
