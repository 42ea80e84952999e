/** `work` on every item, at most `lanes` at a time; results in the order of the items. */
export async function inParallel<Item, Result>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  // one iterator for all: each takes the next item when it is free
  const queue = items.entries()
  const lane = async (): Promise<void> => {
    for (const [i, item] of queue) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}
