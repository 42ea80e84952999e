/**
 * A city's page that news arrives at, faster than in life. By the page's own clock: a clock of the test
 * keeps the stacks of its timers, and with them all that was ever drawn.
 */
import type { Page } from 'playwright-core'
import type { TestApi } from './api.ts'
import { eventually } from './eventually.ts'

type Options = {
  readonly api: TestApi
  /** It has loaded nothing yet. */
  readonly page: Page
  readonly ids: readonly string[]
  /** Of the dashboard. */
  readonly url: string
}

export type LiveNews = {
  /** So often all sensors send, and the page shows it: what takes ten seconds in life. */
  readonly turns: (count: number) => Promise<void>
  readonly readings: () => number
  /** After a forced collection. */
  readonly heapMb: () => Promise<number>
  /** Elements of the page. */
  readonly nodes: () => Promise<number>
}

/** Of every category from moderate on, three digits, and never twice in a row. */
const aqiAt = (turn: number): number => 100 + ((turn * 37) % 300)

export async function playNews({ api, page, ids, url }: Options): Promise<LiveNews> {
  const startMs = Math.floor(Date.now() / 1_000) * 1_000
  let turn = 0
  const send = async (): Promise<void> => {
    turn++
    // measured within a minute, whatever the page's clock says: none is late or from the future
    const timeMs = startMs - 60_000 + turn
    await api.commit(ids.map((sensor, at) => ({ sensor, timeMs, aqi: aqiAt(turn + at) })))
  }
  await send()
  await page.goto(url)
  await page.locator('.sensor-list li').first().waitFor()
  await page.locator('.line-state[data-state=live]').waitFor()
  await page.locator('.map canvas').first().waitFor()
  const cdp = await page.context().newCDPSession(page)
  const shows = async (): Promise<boolean> => {
    const [text] = await page.locator(`.sensor-list a[href="/sensors/${ids[0]}"]`).allTextContents()
    return new RegExp(`(?<!\\d)${aqiAt(turn)}(?!\\d)`).test(text ?? '')
  }
  return {
    turns: async (count) => {
      for (let left = count; left > 0; left--) {
        await send()
        await eventually('the page shows it', shows)
      }
    },
    readings: () => turn * ids.length,
    heapMb: async () => {
      await cdp.send('HeapProfiler.collectGarbage')
      await cdp.send('HeapProfiler.collectGarbage')
      return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6
    },
    nodes: async () => page.locator('*').count(),
  }
}
