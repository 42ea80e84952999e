/** The last things that were read or seen, by sequence. */
export type Recent<T> = {
  readonly put: (seq: number, value: T) => void
  /** Two callers who ask for the same at once wait for one answer. */
  readonly get: (seq: number) => Promise<T | undefined>
}

/** Keeps the last `size`; what it does not hold is read. */
export function recent<T>(size: number, read: (seq: number) => Promise<T | undefined>): Recent<T> {
  const kept = new Map<number, Promise<T | undefined>>()
  const keep = (seq: number, value: Promise<T | undefined>): void => {
    kept.delete(seq)
    kept.set(seq, value)
    if (kept.size <= size) return
    for (const oldest of kept.keys()) {
      kept.delete(oldest)
      return
    }
  }
  return {
    put: (seq, value) => keep(seq, Promise.resolve(value)),
    get: (seq) => {
      const found = kept.get(seq)
      if (found !== undefined) return found
      const asked = read(seq)
      keep(seq, asked)
      // a failure is not an answer: the next caller asks the server again
      asked.catch(() => kept.delete(seq))
      return asked
    },
  }
}
