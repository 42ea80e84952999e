import { BoundedMap } from '../core/bounded-map.ts'

type Options = {
  readonly forMs: number
  /** Bound on the entries; the oldest is evicted first. */
  readonly most: number
  readonly nowMs: () => number
}

/** What is cached, and every argument that it was made from: a key that omits one mixes values. */
export type CacheKey = {
  readonly what: string
  readonly [argument: string]: string | number | null | undefined
}

/**
 * The value under `key`, made by `make` unless one not older than `forMs` is cached.
 * @param gone aborted when this caller no longer needs it; the signal of `make` is aborted when that
 * is true of all callers
 */
export type Cache = (<T>(
  key: CacheKey,
  make: (gone: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
) => Promise<T>) & {
  /** The cached value, without waiting. */
  readonly ready: <T>(key: CacheKey) => T | undefined
}

type Entry = {
  readonly madeMs: number
  readonly value: Promise<unknown>
  made?: { readonly value: unknown }
  /** Callers that wait for it. */
  waiting: number
  readonly stop: AbortController
}

/**
 * A cache of values for a limited time. A value that several callers request while it is being made
 * is made once; neither a failure nor an aborted value is cached.
 */
export function createCache({ forMs, most, nowMs }: Options): Cache {
  const entries = new BoundedMap<string, Entry>(most)
  const forget = (key: string, entry: Entry): void => {
    if (entries.get(key) === entry) entries.delete(key)
  }
  const join = (key: string, entry: Entry, gone: AbortSignal | undefined): void => {
    entry.waiting++
    if (gone === undefined) return
    const leave = (): void => {
      if (--entry.waiting > 0) return
      forget(key, entry)
      entry.stop.abort(gone.reason)
    }
    const settle = (): void => gone.removeEventListener('abort', leave)
    gone.addEventListener('abort', leave, { once: true })
    entry.value.then(settle, settle)
  }
  const fresh = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    return entry !== undefined && nowMs() - entry.madeMs < forMs ? entry : undefined
  }
  const begin = (key: string, make: (gone: AbortSignal) => Promise<unknown>): Entry => {
    const stop = new AbortController()
    const entry: Entry = { madeMs: nowMs(), value: make(stop.signal), waiting: 0, stop }
    entries.set(key, entry)
    entry.value.then(
      (value) => {
        entry.made = { value }
      },
      () => forget(key, entry),
    )
    return entry
  }
  const cached = <T>(
    key: CacheKey,
    make: (gone: AbortSignal) => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T> => {
    const text = JSON.stringify(key)
    const entry = fresh(text) ?? begin(text, make)
    join(text, entry, gone)
    // a key names what is cached, so under one key there is only ever one type
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return entry.value as Promise<T>
  }
  const ready = <T>(key: CacheKey): T | undefined =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    fresh(JSON.stringify(key))?.made?.value as T | undefined
  return Object.assign(cached, { ready })
}
