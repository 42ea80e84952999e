import { remember } from '../core/remember.ts'

type Options = {
  readonly forMs: number
  /** Bound on what is kept; the oldest goes first. */
  readonly most: number
  readonly nowMs: () => number
}

/** The value under `key`, made by `make` unless one not older than `forMs` is here. */
export type Keep = <T>(key: string, make: () => Promise<T>) => Promise<T>

/**
 * Keeps answers for a while. Those who ask for the same while it is being made wait for the one
 * making; a failure is not kept.
 */
export function createKeep({ forMs, most, nowMs }: Options): Keep {
  const kept = new Map<string, { readonly madeMs: number; readonly value: Promise<unknown> }>()
  return <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const found = kept.get(key)
    // a key names what it keeps, so under one key there is only ever one type
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (found !== undefined && nowMs() - found.madeMs < forMs) return found.value as Promise<T>
    const value = make()
    remember(kept, key, { madeMs: nowMs(), value }, most)
    value.catch(() => {
      if (kept.get(key)?.value === value) kept.delete(key)
    })
    return value
  }
}
