/** Values by key, as many as fit into a weight: the one used the longest time ago goes first. */
export type WeightedCache<T> = {
  /** Made once, however many ask for it meanwhile; a failure is not kept. */
  readonly get: (key: string, make: () => Promise<T>) => Promise<T>
  readonly delete: (key: string) => void
}

type Entry<T> = { readonly value: Promise<T>; weight: number }

/** @param most the weights of all that is kept; one that is heavier by itself is kept alone */
export function weightedCache<T>(most: number, weightOf: (value: T) => number): WeightedCache<T> {
  const entries = new Map<string, Entry<T>>()
  let sum = 0
  const drop = (key: string, entry: Entry<T>): void => {
    if (entries.get(key) !== entry) return
    entries.delete(key)
    sum -= entry.weight
  }
  const weigh = (key: string, entry: Entry<T>, value: T): void => {
    if (entries.get(key) !== entry) return
    entry.weight = weightOf(value)
    sum += entry.weight
    for (const [other, old] of entries) {
      if (sum <= most) return
      // what is being made weighs nothing yet
      if (old !== entry && old.weight > 0) drop(other, old)
    }
  }
  return {
    get: async (key, make) => {
      const known = entries.get(key)
      const entry = known ?? { value: make(), weight: 0 }
      entries.delete(key)
      entries.set(key, entry)
      if (known === undefined)
        entry.value.then(
          (value) => weigh(key, entry, value),
          () => drop(key, entry),
        )
      return await entry.value
    },
    delete: (key) => {
      const entry = entries.get(key)
      if (entry !== undefined) drop(key, entry)
    },
  }
}
