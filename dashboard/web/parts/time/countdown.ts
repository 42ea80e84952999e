/** Counting down by the server's time: a browser's clock may be wrong by a day. */
import { useEffect, useState } from 'preact/hooks'
import { serverMs } from './clock.ts'

/** The server's time, again each second. @param isWanted false: it stands still, and costs nothing */
export function useServerNow(isWanted: boolean): number {
  const [nowMs, setNowMs] = useState(serverMs)
  useEffect(() => {
    if (!isWanted) return
    setNowMs(serverMs())
    const timer = setInterval(() => setNowMs(serverMs()), 1000)
    return () => clearInterval(timer)
  }, [isWanted])
  return nowMs
}

/** `1:20`, `1:02:00`; undefined: it is due. */
export function countdown(untilMs: number, nowMs: number): string | undefined {
  const left = Math.ceil((untilMs - nowMs) / 1000)
  if (left <= 0) return undefined
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60]
  const two = (value: number): string => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`
}
