import { useState } from 'preact/hooks'

export type Action = {
  readonly isBusy: boolean
  /** Of the last try; undefined: it worked, or there was none. */
  readonly error: unknown
  /** Runs one action at a time. @returns whether it worked */
  readonly run: (work: () => Promise<void>) => Promise<boolean>
  readonly clear: () => void
}

/** An action of the reader: busy while it runs, its error until the next try. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  return {
    isBusy,
    error,
    run: async (work) => {
      if (isBusy) return false
      setBusy(true)
      setError(undefined)
      try {
        await work()
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        setBusy(false)
      }
    },
    clear: () => setError(undefined),
  }
}
