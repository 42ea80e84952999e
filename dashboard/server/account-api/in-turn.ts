/** One piece of work at a time for each name; others wait for theirs. */
export type InTurn = <T>(name: string, work: () => Promise<T>) => Promise<T>

export function inTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = last.get(name)
    const mine = (async () => {
      await before?.catch(() => undefined)
      return await work()
    })()
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
