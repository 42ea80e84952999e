/** Does the work for every item, for at most so many at once. */
export async function eachAtOnce<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += most)
    await Promise.all(items.slice(at, at + most).map(work))
}
