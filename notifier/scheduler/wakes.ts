/**
 * Endpoints to check again at a given time: their rate allows an attempt, or their breaker closes.
 */
import type { Endpoint } from './endpoint.ts'

export type Wakes = Disposable & {
  /** Does nothing if the endpoint is checked before that time anyway. */
  readonly at: (endpoint: Endpoint, atMs: number) => void
}

const tickMs = 50

export function createWakes(nowMs: () => number, onWake: (endpoint: Endpoint) => void): Wakes {
  const byTick = new Map<number, Endpoint[]>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const wake = (): void => {
    timer = undefined
    const nowTick = Math.floor(nowMs() / tickMs)
    for (const [tick, waiting] of byTick) {
      if (tick > nowTick) continue
      byTick.delete(tick)
      for (const endpoint of waiting) {
        endpoint.wakeMs = 0
        onWake(endpoint)
      }
    }
    if (byTick.size > 0 && !isClosed) timer ??= setTimeout(wake, tickMs)
  }

  return {
    at: (endpoint, atMs) => {
      if (endpoint.wakeMs !== 0 && endpoint.wakeMs <= atMs) return
      endpoint.wakeMs = atMs
      const tick = Math.ceil(atMs / tickMs)
      const waiting = byTick.get(tick)
      if (waiting === undefined) byTick.set(tick, [endpoint])
      else waiting.push(endpoint)
      timer ??= setTimeout(wake, tickMs)
    },
    [Symbol.dispose]: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
