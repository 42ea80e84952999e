/** How long readings take from their sensor to a row that a reader of the store sees. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../../store/store.ts'
import type { SentReading } from './sensors.ts'

type Watch = {
  /** In ms, of those seen since the last call, in the order in which they were seen. */
  readonly take: () => readonly number[]
  readonly stop: () => Promise<void>
}

const everyMs = 25
const mostRows = 5_000

/**
 * Asks the store for all acknowledged readings that it has not shown yet, so what waits while
 * something is away is counted too. A reading's time must be that of its first publish.
 */
export function watchStored(store: Store, acknowledged: readonly SentReading[]): Watch {
  const unseen = new Map<string, number>()
  let taken = 0
  let isOver = false
  let tookMs: number[] = []
  const look = async (): Promise<void> => {
    for (; taken < acknowledged.length; taken++) {
      const one = acknowledged[taken]
      if (one !== undefined) unseen.set(`${one.sensor} ${one.timeMs}`, one.timeMs)
    }
    if (unseen.size === 0) return
    const oldestMs = Math.min(...unseen.values())
    const rows = await store.rangeAll(oldestMs, Date.now() + 1, mostRows).catch(() => [])
    const nowMs = Date.now()
    for (const { sensor, timeMs } of rows)
      if (unseen.delete(`${sensor} ${timeMs}`)) tookMs.push(nowMs - timeMs)
  }
  const watching = (async () => {
    while (!isOver) {
      await look()
      await pause(everyMs)
    }
  })()
  return {
    take: () => {
      const seen = tookMs
      tookMs = []
      return seen
    },
    stop: async () => {
      isOver = true
      await watching
    },
  }
}
