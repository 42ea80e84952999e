import { useEffect } from 'preact/hooks'

/**
 * Calls repeatedly while the page is visible; at once when it becomes visible.
 * @param ms between calls
 */
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
