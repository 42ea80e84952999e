import { useCallback, useEffect, useState } from 'preact/hooks'

/** The state of a request. `again` repeats it and keeps the former answer meanwhile. */
export type Answer<T> = {
  readonly value: T | undefined
  readonly error: unknown
  readonly isAsking: boolean
  readonly again: () => void
}

/** Requests when the component appears and whenever `deps` change; a late answer is dropped. */
export function useAnswer<T>(
  request: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): Answer<T> {
  const [state, setState] = useState<Omit<Answer<T>, 'again'>>({
    value: undefined,
    error: undefined,
    isAsking: true,
  })
  const [turn, setTurn] = useState(0)
  const again = useCallback(() => setTurn((now) => now + 1), [])
  useEffect(() => {
    const abort = new AbortController()
    setState((was) => ({ ...was, isAsking: true }))
    request(abort.signal).then(
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
