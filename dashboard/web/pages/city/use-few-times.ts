import { useEffect, useState } from 'preact/hooks'
import type { LiveCity } from './live-city.ts'

const pauseMs = 400

/** A number that counts up when the city changed, never more than a few times a second. */
export function useFewTimesASecond(live: LiveCity): number {
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const count = (): void => {
      timer = undefined
      setTurn((now) => now + 1)
    }
    const unwatch = live.watch((changed) => {
      if (changed === undefined) {
        clearTimeout(timer)
        count()
      } else timer ??= setTimeout(count, pauseMs)
    })
    return () => {
      unwatch()
      clearTimeout(timer)
    }
  }, [live])
  return turn
}
