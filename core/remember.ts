/** Sets an entry and keeps at most `most` of them: the one set the longest time ago is evicted. */
export function remember<T>(known: Map<string, T>, key: string, value: T, most: number): void {
  known.delete(key)
  known.set(key, value)
  if (known.size <= most) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
