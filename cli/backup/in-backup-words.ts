import { isDiskFull, MustAct, TryAgain } from '../../runtime/exit.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'

/**
 * The disk may become full in spite of the look at its room, and a store may go away.
 * @param ifFull what to do then
 */
export async function inBackupWords<T>(ifFull: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (isDiskFull(cause)) throw new MustAct(ifFull, { cause })
    if (cause instanceof StoreUnavailable)
      throw new TryAgain(`${cause.message}. Run the same command again`, { cause })
    if (cause instanceof StoreMisconfigured) throw new MustAct(cause.message, { cause })
    throw cause
  }
}
