/** The pages on bad lines, with bad names, without scripts, and where sensors are not where they were. */

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import { views } from '../../dashboard/open-server.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import {
  type CityBrowser,
  cityBrowser,
  type OpenPage,
  overflowOf,
  pictureOf,
} from '../support/city-browser.ts'
import { eventually } from '../support/eventually.ts'
import { type Deed, type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const [first, second, moving, named] = [
  'NGR-LOS-IKJ-001',
  'NGR-LOS-IKJ-002',
  'NGR-LOS-IKJ-003',
  'NGR-LOS-SOM-004',
] as const
const markup = '<script>alert(1)</script><b onmouseover=alert(1)>'
const longName = `${markup}${'شارع الميناء الطويل '.repeat(5)}`.padEnd(200, 'Street')
const longArea = `${markup}شارع `.padEnd(80, 'x')

describe.skipIf(chromiumMissing !== undefined)(
  `bad input${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    const all = new AsyncDisposableStack()
    let api: TestApi
    let proxy: FaultyProxy
    let browser: CityBrowser
    let opened: OpenPage
    let turn = 0
    beforeAll(async () => {
      api = all.use(await testApi())
      proxy = all.use(await faultyProxy(api.url))
      for (const [at, id] of [first, second, moving].entries())
        await api.register({ id, sites: [siteOf('Ikeja', 6.6 + at / 100)] })
      await api.register({
        id: named,
        sites: [{ ...siteOf(longArea, 6.55, 3.4), address: longName }],
      })
      await api.register({ id: 'NGR-LOS-YAB-005', sites: [siteOf('Yaba', 6.5)] })
      await api.commit(
        [first, second, moving, named].map((sensor) => ({
          sensor,
          timeMs: nowMs - 2 * minuteMs,
          aqi: 112,
          pm25: 4_000,
          area: sensor === named ? longArea : 'Ikeja',
        })),
      )
      browser = all.use(await cityBrowser({ nats: api.nats, url: proxy.url }))
    })
    afterAll(() => all.disposeAsync())
    afterEach(async ({ task }) => {
      if (opened === undefined) return
      if (task.result?.state === 'fail')
        process.stdout.write(`${task.name}: ${await pictureOf(opened.page)}\n`)
      proxy.be(() => 'pass')
      await opened.page.context().close()
    })

    const at = (path: string): string => browser.dashboard.url + path
    const send = async (aqi: number): Promise<void> =>
      void (await api.commit([{ sensor: first, timeMs: nowMs - minuteMs + turn++, aqi }]))
    /** A page whose timers are the test's from its first line. */
    const openWithClock = async (path: string, offMs = 0): Promise<Page> => {
      opened = await browser.open('/robots.txt')
      await opened.page.clock.install({ time: Date.now() + offMs })
      await opened.page.goto(at(path))
      return opened.page
    }
    const passUntil = async (what: string, ms: number, isSo: () => Promise<boolean>) =>
      eventually(what, async () => {
        await opened.page.clock.runFor(ms)
        return isSo()
      })
    const line = (state: string) => opened.page.locator(`.line-state[data-state=${state}]`)

    const streams: readonly (readonly [string, Deed | 'ended'])[] = [
      ['with 429', 'too many'],
      ['with 503', 'away'],
      ['by the API’s end at once', { cutAfter: 0 }],
      ['by an end at once, on the way to the reader', 'ended'],
    ]
    test.each(streams)(
      'where the stream is refused %s, the list is asked for in its place, until it is there again',
      async (_, deed) => {
        const page = await openWithClock('/robots.txt')
        const contentType = 'text/event-stream'
        if (deed === 'ended')
          await page.route('**/stream', (route) => route.fulfill({ contentType, body: '\n\n' }))
        else proxy.be((path) => (path.startsWith('/v1/stream') ? deed : 'pass'))
        await page.goto(at('/'))
        await passUntil('it polls', 1_000, () => line('polling').isVisible())
        const aqi = 200 + turn
        await send(aqi)
        await passUntil('the reading is shown', 5_000, async () =>
          page
            .locator('.sensor-list li', { hasText: String(aqi) })
            .first()
            .isVisible(),
        )
        expect(await page.getByRole('alert').count()).toBe(0)
        proxy.be(() => 'pass')
        await page.unroute('**/stream')
        await passUntil('it is live', 5_000, () => line('live').isVisible())
      },
    )

    test.each(['too many', 'away'] as const)(
      'the first list refused (%s) takes neither headline nor map, and comes when it may',
      async (deed) => {
        proxy.be((path) => (path.startsWith('/v1/sensors?') ? deed : 'pass'))
        const page = await openWithClock('/')
        const alert = page.locator('.city-list [role=alert]')
        await passUntil('it is shown', 500, () => alert.isVisible())
        expect(await page.locator('.headline-number').textContent()).toMatch(/\d/)
        expect(await page.locator('.map').isVisible()).toBe(true)
        proxy.be(() => 'pass')
        await passUntil('the sensors are there', 2_000, async () =>
          page.locator('.sensor-list li').first().isVisible(),
        )
        expect(await alert.count()).toBe(0)
      },
    )

    const chunks = [
      ['map', '/', '.city-map', '.map canvas'],
      ['charts', `/sensors/${first}`, 'main', '.charts .uplot canvas'],
      ['charts', '/', '.city-area', '.city-area .uplot canvas'],
      ['account', '/developers', 'main', 'main pre'],
    ] as const
    test.each(chunks)(
      'the chunk %s of %s that does not load leaves the page, a sentence and a way to try again',
      async (chunk, path, place, sign) => {
        opened = await browser.open('/robots.txt')
        const { page } = opened
        const pattern = new RegExp(`/assets/${chunk}-[^/]*\\.js`)
        await page.route(pattern, (route) => route.abort())
        await page.goto(at(path))
        if (place === '.city-area') await page.locator(place).scrollIntoViewIfNeeded()
        const again = page.locator(place).getByRole('button', { name: 'Try again' })
        await again.waitFor()
        expect(await page.getByText('could not be loaded').count()).toBeGreaterThan(0)
        expect(await page.locator('header.top').isVisible()).toBe(true)
        await page.unroute(pattern)
        await again.click()
        if (place === '.city-area') {
          await page.locator('.sensor-list li').first().waitFor()
          await page.locator(place).scrollIntoViewIfNeeded()
        }
        await page.locator(sign).first().waitFor()
      },
    )

    test('a line as slow as 2G has the answer before any script is there', async () => {
      opened = await browser.open('/robots.txt')
      const { page } = opened
      const waits = Promise.withResolvers<void>()
      await page.route(/\.js$/, async (route) => {
        await waits.promise
        await route.continue()
      })
      await page.goto(at('/'), { waitUntil: 'commit' })
      await page.locator('.headline-number', { hasText: /\d/ }).waitFor()
      await page.locator('.headline-advice', { hasText: /\w/ }).waitFor()
      expect(await page.locator('.sensor-list').count()).toBe(0)
      waits.resolve()
      await page.locator('.sensor-list li').first().waitFor()
    })

    test('without scripts every page has its numbers, or says what needs them and where to go', async () => {
      const filled = new Map([
        ['/areas/:slug', '/areas/ikeja'],
        ['/sensors/:id', `/sensors/${first}`],
        ['/proof/:id/:timestamp', `/proof/${first}/${formatIso(nowMs - 2 * minuteMs)}`],
        ['/settings/webhooks/:id', '/settings/webhooks/wh_1'],
      ])
      opened = await browser.open('/robots.txt', { hasScript: false, width: 320 })
      const { page } = opened
      for (const view of views) {
        await page.goto(at(filled.get(view) ?? view))
        const text = await page.locator('main:visible').innerText()
        expect([view, text]).toEqual([view, expect.stringContaining('JavaScript')])
        const numbers = await page.locator('.headline-number', { hasText: /\d/ }).count()
        expect([view, numbers]).toEqual([view, /^\/(?:$|areas|sensors)/.test(view) ? 1 : 0])
        expect([view, await page.locator('h1:visible').count()]).toEqual([view, 1])
        expect([view, await page.locator('main:visible a').count()]).not.toEqual([view, 0])
        expect([view, await overflowOf(page)]).toEqual([view, 0])
      }
    })

    test.each([-1, 1])(
      'with a clock that is wrong by %i day the headline has the network’s time, and the page is live',
      async (days) => {
        await send(90)
        const page = await openWithClock('/', days * 24 * 60 * minuteMs)
        await passUntil('it is live', 1_000, () => line('live').isVisible())
        const inLagos = new Date(Date.now() + 60 * minuteMs).toISOString()
        const time = /(\d\d):(\d\d), West Africa Time/.exec(
          (await page.locator('.headline-hint').first().textContent()) ?? '',
        )
        const [hours = 0, minutes = 0] = inLagos.slice(11, 16).split(':').map(Number)
        const shown = Number(time?.[1]) * 60 + Number(time?.[2])
        // the server writes it, and asks the API at most each 20 s
        expect([0, 1, 2]).toContain((hours * 60 + minutes - shown + 1440) % 1440)
        // the server's pings are those of life: 40 s of the page's are too many
        await page.clock.runFor(30_000)
        expect(await line('live').isVisible()).toBe(true)
        expect(await page.getByText('No connection to the server').count()).toBe(0)
      },
    )

    test('a sensor that moved is at its new place in list, map and page, without a reload', async () => {
      const page = await openWithClock(`/?sensor=${moving}`)
      await passUntil('it is listed', 500, () => page.locator('.preview').isVisible())
      await page.locator('.city-filters select').first().selectOption('Yaba')
      const row = page.locator('.sensor-list li', { hasText: moving })
      await passUntil('it is not in Yaba', 500, async () => (await row.count()) === 0)
      await api.register({
        id: moving,
        sites: [
          siteOf('Ikeja', 6.62),
          { ...siteOf('Yaba', 6.5, 3.37, formatIso(nowMs - minuteMs)), address: 'Moved Road' },
        ],
      })
      await passUntil('it is in Yaba', 60_000, () => row.isVisible())
      expect(await row.textContent()).toContain('Moved Road')
      await page.locator('.preview', { hasText: 'Moved Road' }).waitFor()
      await api.commit([{ sensor: moving, timeMs: nowMs - 1_000, aqi: 77, area: 'Yaba' }])
      await page.goto(at(`/sensors/${moving}`))
      await page.locator('.headline-where a', { hasText: 'Yaba' }).waitFor()
      expect(opened.complaints).toEqual([])
    })

    test('a name of 200 characters, right to left, with markup is text on every page', async () => {
      opened = await browser.open('/', { width: 320 })
      const { page, complaints } = opened
      const area = encodeURIComponent(longArea)
      for (const [path, place] of [
        ['/', '.sensor-list'],
        [`/?sensor=${named}`, '.preview'],
        [`/sensors/${named}`, 'h1'],
        [`/embed/sensor/${named}`, '#place'],
      ] as const) {
        await page.goto(at(path))
        await page.locator(place, { hasText: longName.trim() }).first().waitFor()
        expect([path, await page.locator('b[onmouseover]').count()]).toEqual([path, 0])
        await expect.poll(() => overflowOf(page)).toBeLessThanOrEqual(0)
      }
      for (const path of [`/areas/${area}`, `/embed/area/${area}`]) {
        await page.goto(at(path))
        await page.locator('h1, #place', { hasText: longArea.trim() }).first().waitFor()
        expect([path, await page.locator('b[onmouseover]').count()]).toEqual([path, 0])
      }
      for (const path of [`/badge/area/${area}.svg`, `/badge/sensor/${named}.svg`]) {
        await page.goto(at(path))
        // drawn as XML, which has no patience with markup
        expect([path, await page.evaluate('document.documentElement.localName')]).toEqual([
          path,
          'svg',
        ])
        expect([path, await page.locator('b, script').count()]).toEqual([path, 0])
      }
      expect(complaints).toEqual([])
      const csv = await api.get('/v1/sensors?include=latest', { headers: { accept: 'text/csv' } })
      expect(await csv.text()).toContain(longName)
    })

    test('back and forward twenty times end where they began, with no more memory', async () => {
      opened = await browser.open('/?area=ikeja&order=id')
      const { page } = opened
      const cdp = await page.context().newCDPSession(page)
      const heapMb = async (): Promise<number> => {
        await cdp.send('HeapProfiler.collectGarbage')
        await cdp.send('HeapProfiler.collectGarbage')
        return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6
      }
      const list = page.locator('.sensor-list li')
      const chart = page.locator('.charts .uplot canvas').first()
      await list.first().waitFor()
      await list.first().getByRole('link').click()
      await chart.waitFor()
      const round = async (): Promise<void> => {
        await page.goBack()
        await list.first().waitFor()
        await page.locator('.map canvas').first().waitFor()
        await page.goForward()
        await chart.waitFor()
      }
      for (let at = 0; at < 5; at++) await round()
      const before = await heapMb()
      for (let at = 0; at < 20; at++) await round()
      const after = await heapMb()
      process.stdout.write(`twenty times: ${before.toFixed(2)} MB, then ${after.toFixed(2)} MB\n`)
      expect(after - before).toBeLessThan(2)
      await page.goBack()
      expect(page.url()).toBe(at('/?area=ikeja&order=id'))
    })
  },
)
