import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { LiveCity } from './live-city.ts'

const pauseMs = 400

/**
 * A number that counts up when the city changed, never more than a few times a second, and so that
 * what is drawn for it takes a tenth of the time at most.
 */
export function useFewTimesASecond(live: LiveCity): number {
  const [turn, setTurn] = useState(0)
  const drawing = useRef({ begunMs: performance.now(), tookMs: 0 })
  useLayoutEffect(() => {
    drawing.current.tookMs = performance.now() - drawing.current.begunMs
  }, [turn])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const count = (): void => {
      timer = undefined
      drawing.current.begunMs = performance.now()
      setTurn((now) => now + 1)
    }
    const unwatch = live.watch((changed) => {
      if (changed === undefined) {
        clearTimeout(timer)
        count()
      } else timer ??= setTimeout(count, Math.max(pauseMs, 9 * drawing.current.tookMs))
    })
    return () => {
      unwatch()
      clearTimeout(timer)
    }
  }, [live])
  return turn
}
