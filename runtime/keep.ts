import { remember } from '../core/remember.ts'

type Options = {
  readonly forMs: number
  /** Bound on what is kept; the oldest goes first. */
  readonly most: number
  readonly nowMs: () => number
}

/** What is kept, and every argument that it was made from: a key that leaves one out mixes answers. */
export type KeepKey = {
  readonly what: string
  readonly [argument: string]: string | number | null | undefined
}

/**
 * The value under `key`, made by `make` unless one not older than `forMs` is here.
 * @param gone aborted when this caller needs it no longer; `make` is told when that is true of all
 */
export type Keep = (<T>(
  key: KeepKey,
  make: (gone: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
) => Promise<T>) & {
  /** What is here already, without waiting. */
  readonly ready: <T>(key: KeepKey) => T | undefined
}

type Kept = {
  readonly madeMs: number
  readonly value: Promise<unknown>
  made?: { readonly value: unknown }
  /** Callers who wait for it. */
  waiting: number
  readonly stop: AbortController
}

/**
 * Keeps answers for a while. Callers who ask for the same while it is being made wait for the first;
 * a failure is not kept, and neither is what was given up.
 */
export function createKeep({ forMs, most, nowMs }: Options): Keep {
  const kept = new Map<string, Kept>()
  const forget = (key: string, entry: Kept): void => {
    if (kept.get(key) === entry) kept.delete(key)
  }
  const join = (key: string, entry: Kept, gone: AbortSignal | undefined): void => {
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
  const fresh = (key: string): Kept | undefined => {
    const entry = kept.get(key)
    return entry !== undefined && nowMs() - entry.madeMs < forMs ? entry : undefined
  }
  const begin = (key: string, make: (gone: AbortSignal) => Promise<unknown>): Kept => {
    const stop = new AbortController()
    const entry: Kept = { madeMs: nowMs(), value: make(stop.signal), waiting: 0, stop }
    remember(kept, key, entry, most)
    entry.value.then(
      (value) => {
        entry.made = { value }
      },
      () => forget(key, entry),
    )
    return entry
  }
  const keep = <T>(
    asked: KeepKey,
    make: (gone: AbortSignal) => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T> => {
    const key = JSON.stringify(asked)
    const entry = fresh(key) ?? begin(key, make)
    join(key, entry, gone)
    // a key names what it keeps, so under one key there is only ever one type
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return entry.value as Promise<T>
  }
  const ready = <T>(asked: KeepKey): T | undefined =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    fresh(JSON.stringify(asked))?.made?.value as T | undefined
  return Object.assign(keep, { ready })
}
