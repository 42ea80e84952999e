import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { PlaceNow } from '../../place-now.ts'
import { AskError, getJson } from '../data.ts'
import { firstPlace } from '../first-place.ts'
import { serverMs } from './time/clock.ts'
import { useEvery } from './use-every.ts'

type Which = { readonly kind: PlaceNow['kind']; readonly id: string }

export type PlaceAnswer = {
  readonly place: PlaceNow | undefined
  /** There is no such place. */
  readonly isUnknown: boolean
  readonly error: unknown
  readonly again: () => void
}

const everyMs = 30_000
/** What came with the page may have been made some minutes before: then it is asked for at once. */
const freshMs = 30_000

/** How the air is at a place: what came with the page first, then twice a minute. */
export function usePlace({ kind, id }: Which): PlaceAnswer {
  const [state, setState] = useState<{ readonly place?: PlaceNow; readonly error?: unknown }>(
    () => {
      const place = firstPlace(kind, id)
      return place === undefined ? {} : { place }
    },
  )
  const [turn, setTurn] = useState(0)
  const again = useCallback(() => setTurn((now) => now + 1), [])
  useEvery(everyMs, again)
  const isKnown = useRef(isFresh(state.place))
  useEffect(() => {
    // it came with the page
    if (isKnown.current) {
      isKnown.current = false
      return
    }
    const stop = new AbortController()
    getJson<PlaceNow>(addressOf({ kind, id }), { signal: stop.signal }).then(
      (place) => setState({ place }),
      (error: unknown) => {
        if (!stop.signal.aborted) setState((was) => ({ ...was, error }))
      },
    )
    return () => stop.abort()
  }, [turn, kind, id])
  const isUnknown = state.error instanceof AskError && state.error.status === 404
  return { place: state.place, error: state.error, isUnknown, again }
}

const isFresh = (place: PlaceNow | undefined): boolean =>
  place !== undefined && serverMs() - Date.parse(place.made_at) < freshMs

function addressOf({ kind, id }: Which): string {
  if (kind === 'city') return '/now'
  return kind === 'area'
    ? `/now/${encodeURIComponent(id)}`
    : `/now/sensors/${encodeURIComponent(id)}`
}
