/** Keeps at most so many: who was not heard of longest is forgotten. */
export function remember<T>(known: Map<string, T>, key: string, value: T, most: number): void {
  known.delete(key)
  known.set(key, value)
  if (known.size <= most) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
