import { useCallback, useEffect, useState } from 'preact/hooks'

/** What was asked for, as it stands. `again` asks anew and keeps what is there meanwhile. */
export type Asked<T> = {
  readonly value: T | undefined
  readonly error: unknown
  readonly isAsking: boolean
  readonly again: () => void
}

/** Asks when the component appears, and whenever `deps` change; what is late is thrown away. */
export function useAsked<T>(
  question: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): Asked<T> {
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({
    value: undefined,
    error: undefined,
    isAsking: true,
  })
  const [turn, setTurn] = useState(0)
  const again = useCallback(() => setTurn((now) => now + 1), [])
  useEffect(() => {
    const abort = new AbortController()
    setState((was) => ({ ...was, isAsking: true }))
    question(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: undefined, isAsking: false })
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((was) => ({ ...was, error, isAsking: false }))
      },
    )
    return () => abort.abort()
  }, [...deps, turn])
  return { ...state, again }
}
