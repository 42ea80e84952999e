/**
 * The city's page in a headless Chromium: `node bench/city-page.ts [--sensors 1000] [--rate 100]
 * [--seconds 10]` prints one JSON document.
 *
 * - `firstPaintMs`, `firstContentfulPaintMs`: of a page that was never there, from the start of the
 *   navigation; `listedMs`: until the list stands; `mapMs`: until the marks can be drawn.
 * - `longestFrameMs`: the longest time between two frames while readings come, and how many were
 *   over 50 ms; `heard`: readings that came in meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { siteOf, testApi } from '../test/support/api.ts'
import { openPages } from './open-pages.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '10' },
  },
})
const sensors = Number(flags.sensors)
const rate = Number(flags.rate)
const seconds = Number(flags.seconds)
const idOf = (at: number): string => `NGR-LOS-IKJ-${String(at).padStart(4, '0')}`
const aqiAt = (at: number): number => (at * 37) % 340

await using opened = new AsyncDisposableStack()
const api = opened.use(await testApi())
for (let at = 0; at < sensors; at++) {
  const site = siteOf('Ikeja', 6.45 + (at % 40) / 150, 3.2 + Math.floor(at / 40) / 60)
  await api.register({ id: idOf(at), sites: [site] })
}
const startMs = Math.floor(Date.now() / 1000) * 1000
await api.commit(
  Array.from({ length: sensors }, (_, at) => ({
    sensor: idOf(at),
    timeMs: startMs - 60_000,
    aqi: aqiAt(at),
  })),
)
const { dashboard, browser } = await openPages(api, opened)
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await page.goto(`${dashboard.url}/`)
await page.locator('.sensor-list li').first().waitFor()
const listedMs = Number(await page.evaluate('performance.now()'))
await page.locator('.map canvas').first().waitFor()
const mapMs = Number(await page.evaluate('performance.now()'))
await page.locator('.line-state[data-state=live]').waitFor()
const paints: Record<string, number> = await page.evaluate(
  `Object.fromEntries(performance.getEntriesByType('paint').map((one) => [one.name, one.startTime]))`,
)
await pause(3_000)
await page.evaluate(`
  globalThis.frames50 = []
  globalThis.frameCount = 0
  let last = performance.now()
  const tick = (now) => {
    const took = now - last
    last = now
    frameCount++
    frames50.push(took)
    requestAnimationFrame(tick)
  }
  requestAnimationFrame(tick)
`)
let sent = 0
const begin = performance.now()
for (let turn = 0; performance.now() - begin < seconds * 1000; turn++) {
  const due = Math.floor(((performance.now() - begin) / 1000) * rate) - sent
  const messages = Array.from({ length: Math.max(0, due) }, (_, at) => ({
    sensor: idOf((sent + at) % sensors),
    timeMs: startMs + turn,
    aqi: aqiAt(sent + at + turn * 7),
  }))
  if (messages.length > 0) await api.commit(messages)
  sent += messages.length
  await pause(50)
}
const frames: number[] = await page.evaluate('frames50.slice(1)')
const round = (value: number): number => Math.round(value * 10) / 10
process.stdout.write(
  `${JSON.stringify(
    {
      sensors,
      firstPaintMs: round(paints['first-paint'] ?? Number.NaN),
      firstContentfulPaintMs: round(paints['first-contentful-paint'] ?? Number.NaN),
      listedMs: round(listedMs),
      mapMs: round(mapMs),
      readings: sent,
      frames: frames.length,
      medianFrameMs: round(frames.toSorted((a, b) => a - b)[frames.length >> 1] ?? Number.NaN),
      longestFrameMs: round(Math.max(...frames)),
      framesOver50Ms: frames.filter((took) => took > 50).length,
    },
    undefined,
    2,
  )}\n`,
)
