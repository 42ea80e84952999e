import { useEffect, useRef } from 'preact/hooks'
import { AskError, mayPass } from '../data.ts'
import { texts } from '../texts.ts'

const { common } = texts

type RetryProps = { readonly error: unknown; readonly retry: () => void }

const firstMs = 5_000
const mostMs = 60_000

/**
 * Tries again by itself: after the time that the server named, else later each time. There is a
 * button for those who do not want to wait, and nothing where the answer would be the same.
 */
export function Retry({ error, retry }: RetryProps) {
  const tries = useRef(0)
  const known = useRef<unknown>(undefined)
  const waitMs = useRef(0)
  if (known.current !== error) {
    known.current = error
    const told = error instanceof AskError ? error.retryAfterMs : 0
    waitMs.current = Math.max(told, Math.min(mostMs, firstMs * 2 ** tries.current++))
  }
  const isPassing = mayPass(error)
  useEffect(() => {
    if (!isPassing) return undefined
    const timer = setTimeout(retry, waitMs.current)
    return () => clearTimeout(timer)
  }, [error, retry])
  if (!isPassing && error instanceof AskError) return null
  return (
    <>
      {isPassing && (
        <p class="hint">{common.states.tryingIn(Math.round(waitMs.current / 1_000))}</p>
      )}
      <button type="button" onClick={retry}>
        {common.tryAgain}
      </button>
    </>
  )
}
