/** Runs `work` over the items, at most `window` at a time; the first failure ends it. */
export async function inParallel<T>(
  items: readonly T[],
  window: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  let failed = false
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const item = items[next++]
      if (item === undefined) continue
      try {
        await work(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(window, items.length) }, worker))
}
