/**
 * Answers kept for all who look: what is older than `freshMs` is asked for again once, however many
 * want it, and is shown meanwhile, so a page never waits for the API twice.
 */
import { BoundedMap } from '../../../core/bounded-map.ts'

type Options = {
  readonly freshMs: number
  /** Older than this, a value is not shown any more. */
  readonly keptMs: number
  /** Bound on the values; the one made first is forgotten. */
  readonly most: number
  /** A page is not held longer for a value: it comes without it. */
  readonly waitMs: number
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

export type Kept<T> = (name: string, make: () => Promise<T>) => Promise<T | 'away'>

export function keepAnswers<T>(options: Options): Kept<T> {
  const { freshMs, keptMs, most, waitMs, nowMs, onFailure } = options
  const kept = new BoundedMap<string, { readonly value: T; readonly madeMs: number }>(most)
  const making = new Map<string, Promise<T | 'away'>>()
  const renew = async (name: string, make: () => Promise<T>): Promise<T | 'away'> => {
    try {
      const value = await make()
      kept.set(name, { value, madeMs: nowMs() })
      return value
    } catch (error) {
      onFailure(error)
      return 'away'
    } finally {
      making.delete(name)
    }
  }
  return async (name, make) => {
    const known = kept.get(name)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs() - known.madeMs
    if (known !== undefined && ageMs < freshMs) return known.value
    let renewed = making.get(name)
    if (renewed === undefined) {
      renewed = renew(name, make)
      making.set(name, renewed)
    }
    if (known !== undefined && ageMs < keptMs) return known.value
    return await Promise.race([renewed, awayAfter(waitMs)])
  }
}

const awayAfter = async (ms: number): Promise<'away'> =>
  await new Promise((resolve) => {
    setTimeout(resolve, ms, 'away').unref()
  })
