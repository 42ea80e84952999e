/** The last items that were read or seen, by sequence. */
export type RecentCache<T> = {
  readonly put: (seq: number, value: T) => void
  /** Two callers that read the same sequence at once share one read. */
  readonly get: (seq: number) => Promise<T | undefined>
}

/** Stores the last `size` items; reads those that it does not hold. */
export function recentCache<T>(
  size: number,
  read: (seq: number) => Promise<T | undefined>,
): RecentCache<T> {
  const recent = new Map<number, Promise<T | undefined>>()
  const keep = (seq: number, value: Promise<T | undefined>): void => {
    recent.delete(seq)
    recent.set(seq, value)
    if (recent.size <= size) return
    for (const oldest of recent.keys()) {
      recent.delete(oldest)
      return
    }
  }
  return {
    put: (seq, value) => keep(seq, Promise.resolve(value)),
    get: (seq) => {
      const known = recent.get(seq)
      if (known !== undefined) return known
      const reading = read(seq)
      keep(seq, reading)
      // a failure is not cached: the next caller reads again
      reading.catch(() => recent.delete(seq))
      return reading
    },
  }
}
