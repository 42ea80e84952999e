/**
 * Frames of the map with very many sensors, in a headless Chromium without a GPU, from a real API:
 * `node bench/map-frames.ts [--sensors 1,1000,100000] [--seconds 5]` prints one JSON document. Drawing
 * in software has a floor of its own: compare the counts of one run.
 *
 * - `firstMarkMs`, `listedMs`: from the start of the navigation until marks of the first page are
 *   drawn, and until the page says how many sensors there are. `longestTaskMs`, `blockedMs`: of the
 *   tasks over 50 ms in that time.
 * - `idle`, `news`, `drag`, `zoom`: frames per second, the 95th percentile and the longest, frames over
 *   50 ms, and ms of script per frame: while nothing happens, while 100 readings come per second, while
 *   the map is dragged (with news, too), and while it is zoomed in and out.
 */
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { siteOf, testApi } from '../test/support/api.ts'
import { openPages } from './open-pages.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1,1000,100000' },
    seconds: { type: 'string', default: '5' },
  },
})
const counts = flags.sensors.split(',').map(Number)
const seconds = Number(flags.seconds)
const most = Math.max(...counts)
const side = Math.ceil(Math.sqrt(most))
const idOf = (at: number): string => `NGR-LOS-BEN-${String(at).padStart(6, '0')}`
/** As far apart for every count: neighbours by id are not neighbours on the map. */
const placeOf = (at: number): number => (at * 7_919) % (side * side)

await using opened = new AsyncDisposableStack()
const api = opened.use(await testApi())
const { dashboard, browser } = await openPages(api, opened)
const startMs = Math.floor(Date.now() / 1_000) * 1_000
let sent = 0
const reading = (at: number) => ({
  sensor: idOf(at),
  timeMs: startMs - 600_000 + sent++,
  aqi: (at * 37 + sent) % 340,
})

async function grow(from: number, to: number): Promise<void> {
  const of = (size: number, at: number): number[] =>
    Array.from({ length: Math.min(size, to - at) }, (_, place) => at + place)
  for (let at = from; at < to; at += 500) {
    const site = (one: number) =>
      siteOf(
        `Area ${one % 20}`,
        6.4 + (placeOf(one) % side) / side / 4,
        3.15 + Math.floor(placeOf(one) / side) / side / 2.5,
      )
    await Promise.all(of(500, at).map((one) => api.register({ id: idOf(one), sites: [site(one)] })))
  }
  for (let at = from; at < to; at += 10_000) await api.commit(of(10_000, at).map(reading))
}

const round = (value = Number.NaN): number => Math.round(value * 100) / 100
const scriptMs = async (cdp: CDPSession): Promise<number> => {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN) * 1_000
}

type Eyes = { readonly page: Page; readonly cdp: CDPSession }

async function measured({ page, cdp }: Eyes, doing: (turn: number) => Promise<void>) {
  await page.evaluate('frames.length = 0')
  const before = await scriptMs(cdp)
  const begin = performance.now()
  for (let turn = 0; performance.now() - begin < seconds * 1_000; turn++) await doing(turn)
  const frames: number[] = await page.evaluate('frames.slice(1)')
  const sorted = frames.toSorted((a, b) => a - b)
  return {
    perSecond: round((frames.length * 1_000) / frames.reduce((a, b) => a + b, 0)),
    p95Ms: round(sorted[Math.floor(sorted.length * 0.95)]),
    longestMs: round(sorted.at(-1)),
    over50Ms: frames.filter((took) => took > 50).length,
    scriptMsPerFrame: round(((await scriptMs(cdp)) - before) / frames.length),
  }
}

async function look(count: number) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  page.setDefaultTimeout(240_000)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')
  await page.addInitScript(`
    globalThis.frames = []
    globalThis.long = []
    let last = performance.now()
    const tick = (now) => {
      frames.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) long.push(one.duration)
    }).observe({ type: 'longtask', buffered: true })
  `)
  const since = async (): Promise<number> => Number(await page.evaluate('performance.now()'))
  await page.goto(`${dashboard.url}/`, { waitUntil: 'commit' })
  await page.locator('.sensor-list li').first().waitFor()
  await page.locator('.map .leaflet-marks-pane canvas').waitFor()
  const firstMarkMs = await since()
  const words = new RegExp(`^${count.toLocaleString('en-GB')}\\b`)
  await page.locator('#sensors [role=status]').filter({ hasText: words }).waitFor()
  const listedMs = await since()
  const long: number[] = await page.evaluate('long')
  await page.locator('.line-state[data-state=live]').waitFor()
  const eyes = { page, cdp }
  const idle = await measured(eyes, () => page.waitForTimeout(100))
  const tell = async (): Promise<void> => {
    const chosen = Array.from({ length: Math.min(10, count) }, () => (sent * 31) % count)
    await api.commit([...new Set(chosen)].map(reading))
  }
  const news = await measured(eyes, async () => {
    await Promise.all([tell(), page.waitForTimeout(100)])
  })
  const box = await page.locator('.map').boundingBox()
  const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2]
  const pan = async (turn: number): Promise<void> => {
    await page.mouse.move(x + Math.sin(turn / 10) * 200, y + Math.cos(turn / 10) * 100)
    await page.waitForTimeout(8)
  }
  await page.mouse.move(x, y)
  await page.mouse.down()
  const drag = await measured(eyes, pan)
  let telling = Promise.resolve()
  const dragWithNews = await measured(eyes, async (turn) => {
    if (turn % 10 === 0) telling = telling.then(tell)
    await pan(turn)
  })
  await telling
  await page.mouse.up()
  const zoom = await measured(eyes, async (turn) => {
    await page.getByRole('button', { name: turn % 6 < 3 ? 'Zoom in' : 'Zoom out' }).click()
    await page.waitForTimeout(400)
  })
  await page.close()
  return {
    sensors: count,
    firstMarkMs: round(firstMarkMs),
    listedMs: round(listedMs),
    longestTaskMs: round(Math.max(0, ...long)),
    blockedMs: round(long.reduce((sum, took) => sum + took - 50, 0)),
    idle,
    news,
    drag,
    dragWithNews,
    zoom,
  }
}

const looks: Awaited<ReturnType<typeof look>>[] = []
let there = 0
for (const count of counts) {
  await grow(there, count)
  there = count
  looks.push(await look(count))
}
const [floor] = looks
const ratios = looks.map(({ sensors, drag, dragWithNews, zoom }) => ({
  sensors,
  drag: round(drag.perSecond / (floor?.drag.perSecond ?? Number.NaN)),
  dragWithNews: round(dragWithNews.perSecond / (floor?.dragWithNews.perSecond ?? Number.NaN)),
  zoom: round(zoom.perSecond / (floor?.zoom.perSecond ?? Number.NaN)),
}))
process.stdout.write(`${JSON.stringify({ ratios, looks }, undefined, 2)}\n`)
