import { codeOf, MustAct } from '../../runtime/exit.ts'
import { StoreUnavailable } from '../../store/store.ts'
import { Refusal } from '../exports/check-run.ts'

/** Readings that only the archive has cannot be read. The sentence is for clients too: it names no folder. */
export class ArchiveUnreadable extends StoreUnavailable {}

/** What every reader of expired readings receives, whatever went wrong: never an answer without them. */
export async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const isOurs = cause instanceof Refusal || cause instanceof MustAct
    if (!isOurs && codeOf(cause) === undefined) throw cause
    const why = isOurs ? cause.message : 'a file of it cannot be read'
    throw new ArchiveUnreadable(
      `readings of this period are only in the archive, which cannot be read: ${why}`,
      { cause },
    )
  }
}
