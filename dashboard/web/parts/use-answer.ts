import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/**
 * The state of a request. `again` repeats it, unless it is under way, and keeps the former answer
 * meanwhile.
 */
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
  const isOut = useRef(false)
  // a question that is out is left to its answer or its error: asking again would end neither
  const again = useCallback(() => {
    if (!isOut.current) setTurn((now) => now + 1)
  }, [])
  useEffect(() => {
    const abort = new AbortController()
    isOut.current = true
    setState((was) => ({ ...was, isAsking: true }))
    request(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return
        isOut.current = false
        setState({ value, error: undefined, isAsking: false })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        isOut.current = false
        setState((was) => ({ ...was, error, isAsking: false }))
      },
    )
    return () => abort.abort()
  }, [...deps, turn])
  return { ...state, again }
}
