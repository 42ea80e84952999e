import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'

/** The store knows nothing of exit codes: what it throws, as a command reports it. */
export function commandError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return new TryAgain(error.message, { cause: error })
  if (error instanceof StoreMisconfigured) return new MustAct(error.message, { cause: error })
  return error
}
