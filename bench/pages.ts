/**
 * The pages on a slow phone: `node bench/pages.ts [--runs 3] [--sensors 1000] [--idle 60]` prints
 * one JSON document. Chromium at 400 kbit/s, 150 ms away, its CPU four times as slow, 390 px wide,
 * each page `--runs` times in a window that was nowhere yet: lowest, median and highest.
 *
 * - `answerMs`: until the headline is painted. `usableMs`: of the city until its marks are drawn, of
 *   a sensor until its readings are there, of an area until its sensors are. `listMs`, of the city.
 * - `cls`: how far things moved, also at 1440 px (`deskCls`). `inpMs`: the longest of ten presses in
 *   the city's search, until the next frame.
 * - `kB`: what had come whole by then, headers included; `lineMs`: as long as that takes
 *   on the line alone; `cpuMs`: of the page's thread until then, four times as slow.
 * - `idleKbAnHour`: through the socket, of a city's page that is open and not touched, from
 *   `--idle` seconds in which each of 40 sensors sends once in ten.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { siteOf, testApi } from '../test/support/api.ts'
import { openPages } from './open-pages.ts'

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    sensors: { type: 'string', default: '1000' },
    idle: { type: 'string', default: '60' },
  },
})
const runs = Number(flags.runs)
const idOf = (at: number): string => `NGR-LOS-IKJ-${String(at).padStart(4, '0')}`
const few = 40
const line = { latency: 150, downloadThroughput: 50_000, uploadThroughput: 50_000 }
const noLine = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 }

await using opened = new AsyncDisposableStack()
const api = opened.use(await testApi())
const startMs = Math.floor(Date.now() / 1_000) * 1_000
const idsTo = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => idOf(at))
async function register(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at++)
    await api.register({
      id: idOf(at),
      cadence_seconds: 10,
      sites: [siteOf('Ikeja', 6.45 + (at % 40) / 150, 3.2 + Math.floor(at / 40) / 60)],
    })
}
await register(0, few)
// five hours, so that NowCast has enough of them
for (let ago = 300; ago > 0; ago -= 10)
  await api.commit(
    idsTo(few).map((sensor, at) => ({ sensor, timeMs: startMs - ago * 60_000, aqi: 40 + at })),
  )
const { dashboard, browser } = await openPages(api, opened)
const counted = opened.use(await countingSocket(Number(new URL(dashboard.url).port)))

/** Hands bytes on, and counts those that come. */
async function countingSocket(target: number) {
  const sockets = new Set<Socket>()
  const all = { bytes: 0, url: '' }
  const server = createServer((from) => {
    const to = connect(target, '127.0.0.1')
    for (const socket of [from, to]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket)
          from.destroy()
          to.destroy()
        })
    }
    to.on('data', (bytes) => {
      all.bytes += bytes.length
    })
    from.pipe(to)
    to.pipe(from)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  all.url = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`
  return Object.assign(all, {
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
}

/** What is looked for in each frame: the first time that it is there. */
const signs = {
  headline: '.headline-number',
  list: '.sensor-list li',
  map: '.map canvas',
  readings: '.readings tbody tr',
}
type Sign = keyof typeof signs
type Seen = Partial<Record<Sign | 'paint', number>>

type Window = { readonly page: Page; readonly cdp: CDPSession; readonly came: { bytes: number } }

/** A window on the slow line, that was nowhere yet. */
async function slowWindow(wanted: readonly Sign[], isPhone = true): Promise<Window> {
  const size = isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 }
  const context = await browser.newContext({ viewport: size, isMobile: isPhone })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const cdp = await context.newCDPSession(page)
  const came = { bytes: 0 }
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => {
    came.bytes += encodedDataLength
  })
  await cdp.send('Network.enable')
  await cdp.send('Network.emulateNetworkConditions', { offline: false, ...line })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.addInitScript(`
    globalThis.moved = 0
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) if (!one.hadRecentInput) moved += one.value
    }).observe({ type: 'layout-shift', buffered: true })
    globalThis.seen = {}
    const left = new Map(${JSON.stringify(wanted.map((sign) => [sign, signs[sign]]))})
    const look = () => {
      for (const [name, selector] of left)
        if (document.querySelector(selector)) {
          seen[name] = performance.now()
          left.delete(name)
        }
      if (left.size > 0) requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  `)
  return { page, cdp, came }
}

const numberOf = async (page: Page, code: string): Promise<number> =>
  Number(await page.evaluate(code))

async function cpuMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
}

type Measured = { readonly [name: string]: number }

/** Opens a page and waits until it is usable and quiet. */
async function measure({ page, cdp, came }: Window, path: string, usable: Sign): Promise<Measured> {
  await page.goto(counted.url + path, { waitUntil: 'commit' })
  await page.locator(signs[usable]).first().waitFor()
  const kB = came.bytes / 1_000
  const cpu = await cpuMs(cdp)
  await page.waitForLoadState('networkidle')
  const seen: Seen = await page.evaluate(
    `({ ...seen, paint: performance.getEntriesByName('first-contentful-paint')[0].startTime })`,
  )
  return {
    answerMs: Math.max(seen.headline ?? Infinity, seen.paint ?? Infinity),
    ...(usable === 'map' ? { listMs: seen.list ?? Infinity } : {}),
    usableMs: seen[usable] ?? Infinity,
    cls: await numberOf(page, 'moved'),
    kB,
    lineMs: kB * 20,
    cpuMs: cpu,
  }
}

/** The longest of ten presses, at once after the map was there. */
async function press({ page, cdp }: Window): Promise<number> {
  await page.locator('.line-state[data-state=live]').waitFor()
  await cdp.send('Network.emulateNetworkConditions', { offline: false, ...noLine })
  for (const text of 'ikj-000123') await page.getByRole('searchbox').first().press(text)
  await pause(1_000)
  return await numberOf(
    page,
    `new Promise((done) => {
      let longest = 0
      new PerformanceObserver((list) => {
        for (const one of list.getEntries()) longest = Math.max(longest, one.duration)
        done(longest)
      }).observe({ type: 'event', buffered: true, durationThreshold: 16 })
      setTimeout(() => done(longest), 500)
    })`,
  )
}

const rounded = (value: number): number =>
  value < 1 ? Math.round(value * 1e4) / 1e4 : Math.round(value)

/** Lowest, median and highest of each. */
function spread(all: readonly Measured[]): Record<string, readonly number[]> {
  const names = Object.keys(all[0] ?? {})
  return Object.fromEntries(
    names.map((name) => {
      const values = all.map((one) => one[name] ?? 0).toSorted((a, b) => a - b)
      const at = (place: number): number => rounded(values[place] ?? 0)
      return [name, [at(0), at(values.length >> 1), at(values.length - 1)]]
    }),
  )
}

async function times(path: string, usable: Sign, isCity = false) {
  const all: Measured[] = []
  for (let run = 0; run < runs; run++) {
    const wanted: readonly Sign[] = ['headline', ...(isCity ? (['list'] as const) : []), usable]
    const window = await slowWindow(wanted)
    const measured = await measure(window, path, usable)
    const inpMs = isCity ? { inpMs: await press(window) } : {}
    await window.page.context().close()
    const desk = await slowWindow(wanted, false)
    const { cls: deskCls = 0 } = await measure(desk, path, usable)
    await desk.page.context().close()
    all.push({ ...measured, ...inpMs, deskCls })
  }
  return spread(all)
}

/** All sensors that there are send, so that none is silent. */
const send = async (count: number, timeMs: number) =>
  api.commit(
    idsTo(count).map((sensor, at) => ({ sensor, timeMs, aqi: 40 + ((at + timeMs) % 260) })),
  )

async function idle() {
  const { page, cdp } = await slowWindow([])
  await page.goto(counted.url)
  await page.locator('.line-state[data-state=live]').waitFor()
  await cdp.send('Network.emulateNetworkConditions', { offline: false, ...noLine })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.waitForLoadState('load')
  // until the font and what a next visit needs are there
  await pause(10_000)
  const [before, begin] = [counted.bytes, performance.now()]
  for (let turn = 1; performance.now() - begin < Number(flags.idle) * 1_000; turn++) {
    await send(few, startMs + turn * 1_000)
    await pause(10_000)
  }
  const hours = (performance.now() - begin) / 3_600_000
  await page.context().close()
  return Math.round((counted.bytes - before) / hours / 1_000)
}

await send(few, startMs - 60_000)
// the first answer of a process is of code that nothing has run before
for (const path of ['/', '/areas/ikeja', `/sensors/${idOf(0)}`]) await fetch(dashboard.url + path)
const load = loadavg()[0]
const found = {
  city: await times('/', 'map', true),
  area: await times('/areas/ikeja', 'list'),
  sensor: await times(`/sensors/${idOf(0)}`, 'readings'),
  idleKbAnHour: await idle(),
}
const sensors = Number(flags.sensors)
await register(few, sensors)
await send(sensors, Date.now() - 5_000)
const city1000 = await times('/', 'map', true)
process.stdout.write(
  `${JSON.stringify({ runs, load: [load, loadavg()[0]], ...found, [`cityOf${sensors}`]: city1000 }, undefined, 2)}\n`,
)
