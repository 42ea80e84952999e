import { useEffect } from 'preact/hooks'

/** Calls again and again while the page is on show; at once when it is shown anew. @param ms between calls */
export function useEvery(ms: number, call: () => void): void {
  useEffect(() => {
    const tick = (): void => {
      if (!document.hidden) call()
    }
    const timer = setInterval(tick, ms)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [ms, call])
}
