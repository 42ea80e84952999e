/** Everything in a list, fetched page by page as it is read. */
export type Pages<Item> = AsyncIterable<Item> & {
  /** The same, a page at a time. */
  readonly pages: () => AsyncIterable<readonly Item[]>
  readonly toArray: () => Promise<Item[]>
}

type Page<Item> = { readonly items: readonly Item[]; readonly next: string | null }

export function pagesOf<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): Pages<Item> {
  async function* pages(): AsyncGenerator<readonly Item[]> {
    let cursor: string | undefined
    do {
      const { items, next }: Page<Item> = await read(cursor)
      yield items
      cursor = next ?? undefined
    } while (cursor !== undefined)
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* page
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    toArray: async () => {
      const all: Item[] = []
      for await (const page of pages()) all.push(...page)
      return all
    },
  }
}
