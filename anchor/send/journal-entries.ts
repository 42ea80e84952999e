import type { Journal, Kept } from './journal.ts'
import type { Entry } from './journal-entry.ts'

/**
 * The journal as one sender works with it: what it read or wrote last is kept, and a write names
 * the revision it builds on. A sender that is overtaken drops all and reads again.
 */
export type Entries = {
  readonly get: (index: number) => Promise<Kept<Entry>>
  /** @throws Overtaken */
  readonly put: (entry: Entry) => Promise<void>
  readonly forget: (index: number) => Promise<void>
  /** Out of memory, not out of the journal. */
  readonly drop: (index: number) => void
  /** Another process may have changed the journal. */
  readonly dropAll: () => void
  readonly final: () => Promise<number>
  readonly putFinal: (index: number) => Promise<void>
}

export function createEntries(journal: Journal): Entries {
  const known = new Map<number, Kept<Entry>>()
  let final: Kept<number> | undefined

  const orForget = async <T>(write: Promise<T>): Promise<T> => {
    try {
      return await write
    } catch (error) {
      // a write that timed out may have landed, so what we remember is as doubtful as after a loss
      known.clear()
      final = undefined
      throw error
    }
  }
  const get = async (index: number): Promise<Kept<Entry>> => {
    const entry = known.get(index) ?? (await journal.entry(index))
    known.set(index, entry)
    return entry
  }
  const readFinal = async (): Promise<Kept<number>> => {
    final ??= await journal.final()
    return final
  }
  return {
    get,
    put: async (entry) => {
      const { revision } = await get(entry.index)
      const next = await orForget(journal.putEntry(entry, revision))
      known.set(entry.index, { value: entry, revision: next })
    },
    forget: async (index) => {
      known.delete(index)
      await orForget(journal.forgetEntries(index, index))
    },
    drop: (index) => void known.delete(index),
    dropAll: () => {
      known.clear()
      final = undefined
    },
    final: async () => (await readFinal()).value ?? 0,
    putFinal: async (index) => {
      const { revision } = await readFinal()
      final = { value: index, revision: await orForget(journal.putFinal(index, revision)) }
    },
  }
}
