/** How the air is at a place, as the server hands it on; and that a page keeps its place. */
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { formatIsoMs } from '../../core/iso-time.ts'
import { listenOn } from '../../runtime/http/listen.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { lookEverywhere } from '../support/axe.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, overflowOf } from '../support/city-browser.ts'

const minuteMs = 60_000
const nowMs = Math.floor(Date.now() / 1000) * 1000
const allen = 'NGR-LOS-IKJ-001'
const rightToLeft = 'NGR-LOS-IKJ-002'
const silent = 'NGR-LOS-YAB-003'
/** All of an area, whose newest reading is 40 minutes old. */
const dead = ['NGR-LOS-EPE-005', 'NGR-LOS-EPE-006'] as const
const deadMs = nowMs - 40 * minuteMs
const arabic = 'شارع ألن، إيكيجا'
const markup = '<script>alert(1)</script><img src=x onerror="alert(1)">'
/** As long as they may be. */
const longArea =
  'Somolu and Bariga with all of the streets around it, '.repeat(2).slice(0, 79) + 'x'
const longAddress = markup + 'Street'.repeat(40).slice(0, 200 - markup.length)

/** The sum of a page's layout shifts that no input caused. */
const movedSoFar = `new Promise((done) => {
  let sum = 0
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value
  }).observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => done(sum), 500)
})`

describe.skipIf(chromiumMissing !== undefined)(
  `a place${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let api: TestApi
    let browser: CityBrowser
    const at = (path: string): string => browser.dashboard.url + path
    const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(at(path), { headers })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }
    beforeAll(async () => {
      api = opened.use(await testApi())
      const ikeja = siteOf('Ikeja')
      await api.register({ id: allen, sites: [{ ...ikeja, address: 'Allen Avenue, Ikeja' }] })
      await api.register({ id: rightToLeft, sites: [{ ...ikeja, address: arabic }] })
      await api.register({ id: silent, sites: [siteOf('Yaba', 6.5)] })
      await api.register({
        id: 'NGR-LOS-SOM-004',
        sites: [{ ...siteOf(longArea, 6.55), address: longAddress }],
      })
      for (const id of dead) await api.register({ id, sites: [siteOf('Epe', 6.58)] })
      // four weeks of this hour and the next, all at 10 µg/m³
      const hourMs = 60 * minuteMs
      const hour = Math.floor(nowMs / hourMs) * hourMs
      const usual = [4, 3, 2, 1].flatMap((weeks) =>
        Array.from({ length: 24 }, (_, at) => hour - weeks * 7 * 24 * hourMs + at * 5 * minuteMs),
      )
      await api.commit(
        usual.map((timeMs) => ({ sensor: allen, timeMs, pm25: 1000, pm10: 1000, aqi: 53 })),
      )
      await api.commit([
        ...dead.map((sensor) => ({ sensor, timeMs: deadMs, area: 'Epe', pm25: 4000, aqi: 112 })),
        ...[4, 2, 0].map((age) => ({
          sensor: allen,
          timeMs: nowMs - age * minuteMs,
          pm25: 4000,
          pm10: 5000,
          aqi: 112,
        })),
        { sensor: rightToLeft, timeMs: nowMs, pm25: 4000, pm10: 5000, aqi: 112 },
      ])
      browser = opened.use(await cityBrowser(api))
    })
    afterAll(() => opened.disposeAsync())

    test('the answer is in the first response: of the city, an area and a sensor, without a script', async () => {
      for (const [path, name] of [
        ['/', 'Lagos'],
        ['/areas/ikeja', 'Ikeja'],
        [`/sensors/${allen}`, 'Allen Avenue, Ikeja'],
      ] as const) {
        const { page, complaints } = await browser.open(path, { hasScript: false, width: 390 })
        const headline = page.locator('.headline')
        // 40 µg/m³: the mean of ten minutes, because there is no hour yet, and it says so
        expect(await headline.textContent()).toMatch(
          /112.*Unhealthy for sensitive groups.*10-minute mean: not enough data/s,
        )
        expect(await headline.textContent()).toMatch(
          /Children, older people.*2\.7 × WHO guideline/s,
        )
        expect(await headline.textContent()).toContain('West Africa Time')
        expect(await page.locator('h1').textContent()).toBe(name)
        expect(complaints).toEqual([])
        expect(await overflowOf(page)).toBeLessThanOrEqual(0)
        await page.context().close()
      }
      const city = await get('/')
      expect(city.text).toMatch(/<a href="\/areas\/ikeja"><bdi>Ikeja<\/bdi><\/a><\/td><td>112 /)
    })

    test('an area from which nothing arrives says so and since when, without advice, also in plain text', async () => {
      const time = /Nothing has arrived since \d{1,2} \w+ \d{4}, \d\d:\d\d, West Africa Time/
      expect((await get('/now/epe')).text).toMatch(
        /^Epe: No data arrives\nNothing has arrived since/,
      )
      for (const hasScript of [false, true]) {
        const { page } = await browser.open('/areas/epe', { hasScript, width: 320 })
        const words = (await page.locator('.headline').textContent()) ?? ''
        expect(words).toMatch(time)
        expect(words).toMatch(/0 of 2 sensors online/)
        expect(words).not.toMatch(/Children, older people|WHO guideline/)
        expect(await overflowOf(page)).toBeLessThanOrEqual(0)
        await page.context().close()
      }
      for (const path of ['/areas/epe', `/sensors/${dead[0]}`]) {
        const { page } = await browser.open(path)
        await page.getByRole('button', { name: 'Share' }).waitFor()
        expect((await lookEverywhere(page)).faults).toEqual([])
        await page.context().close()
      }
      expect((await get('/badge/area/epe.svg')).text).toContain('No data arrives')
      expect((await get('/embed/area/epe')).text).toMatch(time)
    })

    test('a silent sensor says why, what was measured last and when, and gives no advice', async () => {
      const { page, complaints } = await browser.open(`/sensors/${dead[0]}`, { hasScript: false })
      const words = (await page.locator('.headline').textContent()) ?? ''
      expect(words).toMatch(/No sensor of Epe has reported since .* not this sensor/)
      expect(words).toMatch(
        /Last measured: US AQI 112, Unhealthy for sensitive groups, \d{1,2} \w+/,
      )
      expect(words).not.toMatch(/Children, older people|WHO guideline/)
      await page.context().close()
      const french = await browser.open(`/sensors/${dead[0]}`, { language: 'fr' })
      await french.page.getByText('Aucun capteur de Epe').waitFor()
      await french.page.context().close()
      const never = await browser.open(`/sensors/${silent}`)
      await never.page.getByText('It is registered, but has not sent a reading yet').waitFor()
      expect(await never.page.locator('.headline').textContent()).toContain('Has not sent yet')
      expect(complaints).toEqual([])
      await never.page.context().close()
    })

    test('whether it is worse than usual is said, with how much data that is of, or from when it will be', async () => {
      const words =
        /Worse than usual: on a \w+day at \d\d:00 the average index here is 53 \(4 weeks of data\) · /
      for (const path of ['/areas/ikeja', `/sensors/${allen}`]) {
        // it never holds a page up: the next one has it
        await expect
          .poll(async () => (await get(path)).text.replaceAll(/<[^>]+>/g, ''))
          .toMatch(words)
        const { page } = await browser.open(path)
        expect(await page.locator('.headline').textContent()).toMatch(words)
        await page.context().close()
      }
      // one of six sensors says little of the city, and no day of the other one is known
      for (const path of ['/', `/sensors/${rightToLeft}`])
        await expect
          .poll(async () => (await get(path)).text)
          .toMatch(/Usual for this hour: known from \d+ \w{3}/)
    })

    test('numbers that came with the page and are minutes old are asked for again at once', async () => {
      const { page } = await browser.open('/proof')
      await page.route('**/areas/ikeja', async (route) => {
        const answer = await route.fetch()
        const old = formatIsoMs(Date.now() - 4 * minuteMs)
        const body = (await answer.text()).replace(/"made_at":"[^"]+"/, `"made_at":"${old}"`)
        await route.fulfill({ response: answer, body })
      })
      const asked = page.waitForRequest(at('/now/ikeja'), { timeout: 25_000 })
      await page.goto(at('/areas/ikeja'))
      expect((await asked).url()).toBe(at('/now/ikeja'))
      await page.context().close()
    })

    test('the script takes over what the server wrote: the headline stays where it is', async () => {
      const plain = await browser.open('/', { hasScript: false })
      const first = await plain.page.locator('.headline-number').boundingBox()
      const { page, complaints } = await browser.open('/')
      await page.locator('.sensor-list li').nth(3).waitFor()
      const then = await page.locator('.headline-number').boundingBox()
      expect(Math.abs((then?.y ?? 0) - (first?.y ?? 99))).toBeLessThanOrEqual(1)
      expect(Math.abs((then?.x ?? 0) - (first?.x ?? 99))).toBeLessThanOrEqual(1)
      expect(complaints).toEqual([])
      expect(await page.title()).toBe('Air in Lagos now · airproof')
    })

    test.for(['/', '/areas/ikeja', `/sensors/${allen}`])(
      '%s asks once for what its response names ahead, and moves nothing while it is loaded',
      async (path) => {
        const { page, complaints } = await browser.open('/proof', { width: 390 })
        const asked: string[] = []
        page.on('request', (request) => asked.push(request.url().slice(at('').length)))
        await page.goto(at(path))
        await page.locator('.sensor-list li, .readings tbody tr').first().waitFor()
        await page.waitForLoadState('networkidle')
        const ahead: string[] = await page.evaluate(
          `[...document.querySelectorAll('link[rel=preload], link[rel=modulepreload]')].map((link) => link.getAttribute('href'))`,
        )
        expect(ahead.length).toBeGreaterThan(0)
        for (const one of ahead)
          expect([one, asked.filter((path) => path === one).length]).toEqual([one, 1])
        expect(asked.filter((one) => /account-|texts-fr/.test(one))).toEqual([])
        expect(await page.evaluate(movedSoFar)).toBeLessThan(0.02)
        expect(complaints).toEqual([])
        await page.context().close()
      },
    )

    test('the font arrives after the page and is for the next one: nothing that is read moves', async () => {
      const { page } = await browser.open('/areas/ikeja', { width: 390 })
      await page.waitForResponse(/woff2/)
      await page.waitForFunction(`document.cookie.includes('font=inter')`)
      expect(await page.evaluate(movedSoFar)).toBeLessThan(0.02)
      const looks = (): Promise<string> => page.evaluate(`document.documentElement.className`)
      expect(await looks()).not.toContain('inter')
      await page.goto(at('/areas/ikeja'))
      expect(await looks()).toContain('inter')
      await page.context().close()
    })

    test('on a phone the answer is above the map', async () => {
      const { page } = await browser.open('/', { width: 390 })
      await page.locator('.map').waitFor()
      const number = await page.locator('.headline-number').boundingBox()
      const map = await page.locator('.map').boundingBox()
      expect(number?.y).toBeLessThan(400)
      expect(number?.y).toBeLessThan(map?.y ?? 0)
    })

    test('what does not exist is 404 with words, also for programs', async () => {
      for (const path of [
        '/sensors/NGR-LOS-IKJ-999',
        '/areas/nowhere',
        '/now/nowhere',
        '/now/sensors/NGR-LOS-IKJ-999',
        '/embed/area/nowhere',
        '/badge/sensor/NGR-LOS-IKJ-999.svg',
        '/areas/nowhere/card.png',
        `/proof/${allen}/2020-01-01T00:00:00Z`,
        `/proof/${allen}/2020-01-01T00:00:00Z/card.png`,
        `/proof/${allen}/nonsense`,
        `/areas/${'x'.repeat(300)}`,
      ])
        expect([path, (await get(path)).status]).toEqual([path, 404])
      const { page } = await browser.open('/areas/nowhere')
      await page.getByRole('heading', { name: 'There is no such area' }).waitFor()
    })

    test('plain text is three lines, and the same as JSON for programs', async () => {
      const text = await get('/now/ikeja')
      expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(text.text.split('\n')).toHaveLength(4)
      expect(text.text).toMatch(/^Ikeja: 112 Unhealthy for sensitive groups \(US AQI/)
      expect(text.text).toContain(`${browser.dashboard.url}/areas/ikeja`)
      const json = await get('/now/IKJ', { accept: 'application/json' })
      expect(JSON.parse(json.text)).toMatchObject({
        kind: 'area',
        id: 'ikeja',
        air: { aqi: 112, basis: 'ten_minutes', pollutant: 'pm25' },
        day: { pollutant: 'pm25', ugM3: 40, guideline: 15 },
        timezone: 'Africa/Lagos',
      })
      expect((await get('/now')).text).toMatch(/^Lagos: 112/)
      expect((await get(`/now/sensors/${rightToLeft}`)).text).toMatch(
        /^\u2068شارع[^\n]*\u2069: 112/,
      )
      expect((await get(`/now/sensors/${silent}`)).text).toContain('has not sent a reading yet')
      expect((await get('/now/ikeja', { 'accept-language': 'fr' })).text).toContain('OMS')
    })

    test('links have tags and a picture of 1200 by 630, of a city, an area, a sensor and a proof', async () => {
      const proof = `/proof/${allen}/${encodeURIComponent(formatIsoMs(nowMs))}`
      for (const [path, picture] of [
        ['/', '/card.png'],
        ['/areas/ikeja', '/areas/ikeja/card.png'],
        [`/sensors/${rightToLeft}`, `/sensors/${rightToLeft}/card.png`],
        [proof, `${proof}/card.png`],
      ] as const) {
        const page = await get(path)
        expect([path, page.status]).toEqual([path, 200])
        expect(page.text).toContain(
          `property="og:image" content="${browser.dashboard.url}${picture}"`,
        )
        const answer = await fetch(at(picture))
        expect(answer.headers.get('content-type')).toBe('image/png')
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
        const png = Buffer.from(await answer.arrayBuffer())
        expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630])
        expect(png.length).toBeLessThan(120_000)
        // the same bytes are sent again without being drawn again
        expect(Buffer.from(await (await fetch(at(picture))).arrayBuffer()).equals(png)).toBe(true)
      }
      const tags = (await get(proof)).text
      expect(tags).toContain('og:title" content="Proof of a reading: Allen Avenue, Ikeja"')
      expect(tags).toContain('PM2.5 40 µg/m³')
    })

    test('a badge is a small picture, and names are text in it', async () => {
      const { text, headers } = await get('/badge/area/ikeja.svg')
      expect(headers.get('content-type')).toMatch('image/svg+xml')
      expect(text).toContain('aria-label="Ikeja: 112 Unhealthy for sensitive groups"')
      expect((await get('/badge/sensor/NGR-LOS-SOM-004.svg')).text).toContain('&lt;script&gt;')
    })

    test('a frame on a page of others shows the place, in at most 15 kB, and nothing else may be framed', async () => {
      await using others = await otherPage(
        `<iframe id="ours" src="${at('/embed/area/ikeja')}" width="340" height="300"></iframe><iframe id="page" src="${at('/areas/ikeja')}"></iframe>`,
      )
      const { page, complaints } = await browser.open('/now')
      const sizes: Promise<number>[] = []
      page.on('response', (response) => {
        if (/\/embed/.test(response.url())) sizes.push(response.body().then((body) => body.length))
      })
      await page.goto(others.url)
      const frame = page.frameLocator('#ours')
      await frame.getByText('112').waitFor()
      expect(await frame.locator('#place').getAttribute('href')).toBe(at('/areas/ikeja'))
      expect(await frame.locator('#stale').isVisible()).toBe(false)
      const sum = (await Promise.all(sizes)).reduce((a, b) => a + b, 0)
      expect(sizes.length).toBe(3)
      expect(sum).toBeLessThanOrEqual(15_000)
      expect(await page.frameLocator('#page').locator('.headline').count()).toBe(0)
      expect(complaints.filter((words) => !words.includes('frame-ancestors'))).toEqual([])
      const policy = (await get('/embed/area/ikeja')).headers
      expect(policy.get('content-security-policy')).toContain('frame-ancestors *')
      expect(policy.get('x-frame-options')).toBeNull()
      expect((await get('/areas/ikeja')).headers.get('x-frame-options')).toBe('DENY')
    })

    test('a frame asks again, and says so when the server is away', async () => {
      const { page } = await browser.open('/now')
      await page.clock.install()
      await page.goto(at('/embed/area/ikeja'))
      const again = page.waitForResponse(/embed\/area/)
      await page.clock.runFor(61_000)
      await again
      await page.context().setOffline(true)
      await page.clock.runFor(61_000)
      await page.locator('#stale').waitFor()
      await page.context().setOffline(false)
      await page.clock.runFor(61_000)
      await expect.poll(() => page.locator('#stale').isVisible()).toBe(false)
    })

    test('search, order and area are in the address: back, forward and reload restore them, every time', async () => {
      const { page } = await browser.open('/')
      await page.locator('.sensor-list li').nth(3).waitFor()
      await page.locator('.city-filters select').first().selectOption('Ikeja')
      await page.getByLabel('Order').selectOption('By id')
      await page.getByLabel('Search by place or id').fill('allen')
      const rows = () => page.locator('.sensor-list li').count()
      await expect.poll(rows).toBe(1)
      const whole = at('/?area=ikeja&order=id&search=allen')
      await expect.poll(() => page.url()).toBe(whole)
      await page.reload()
      await expect.poll(rows).toBe(1)
      await expect.poll(() => page.getByLabel('Search by place or id').inputValue()).toBe('allen')
      await expect.poll(() => page.title()).toBe('Air in Ikeja now · airproof')
      await page.locator('.sensor-list a').first().click()
      await page.getByRole('heading', { level: 1, name: 'Allen Avenue, Ikeja' }).waitFor()
      const turns = inject('soak') ? 20 : 4
      for (let turn = 0; turn < turns; turn++) {
        await page.goBack()
        await page.locator('.sensor-list li').first().waitFor()
        expect(page.url()).toBe(whole)
        expect(await page.getByLabel('Search by place or id').inputValue()).toBe('allen')
        await page.goForward()
        await page.getByRole('heading', { level: 1, name: 'Allen Avenue, Ikeja' }).waitFor()
        expect(page.url()).toBe(at(`/sensors/${allen}`))
      }
      await page.goBack()
      await page.locator('.sensor-list li').first().waitFor()
      await page.goBack()
      await expect.poll(() => page.getByLabel('Order').inputValue()).toBe('worst')
      expect(page.url()).toBe(at('/?area=ikeja'))
    })

    test('the page is scrolled to where it was', async () => {
      const { page } = await browser.open(`/sensors/${allen}`, { width: 390 })
      await page.getByRole('heading', { name: 'Readings' }).waitFor()
      await page.evaluate('scrollTo(0, 700)')
      // a click of the mouse would scroll to the link
      await page.getByRole('link', { name: 'City' }).first().dispatchEvent('click')
      await page.locator('.sensor-list li').first().waitFor()
      await expect.poll(() => page.evaluate('scrollY')).toBe(0)
      await page.goBack()
      await expect.poll(() => page.evaluate('scrollY')).toBe(700)
    })

    test('the page can be installed: its manifest begins at a page, and its icons are as large as they say', async () => {
      const { page } = await browser.open('/')
      const href = await page.locator('link[rel=manifest]').getAttribute('href')
      const answer = await fetch(at(href ?? ''))
      expect(answer.headers.get('content-type')).toContain('application/manifest+json')
      const manifest = await answer.json()
      const { start_url: start, scope, display, name, icons } = manifest as Manifest
      expect({ scope, display, name }).toEqual({
        scope: '/',
        display: 'standalone',
        name: 'airproof',
      })
      expect((await fetch(at(start))).status).toBe(200)
      const sizes = await page.evaluate(`Promise.all(${JSON.stringify(icons)}.map(sizeOf))
        async function sizeOf({ src, sizes, type }) {
          const image = new Image()
          image.src = src
          await image.decode()
          const given = (await fetch(src)).headers.get('content-type')
          const size = sizes === 'any' ? sizes : image.naturalWidth + 'x' + image.naturalHeight
          return [src, size, given === type]
        }`)
      expect(sizes).toEqual(icons.map(({ src, sizes }) => [src, sizes, true]))
      // what browsers ask for before they offer it
      expect(icons.map(({ sizes }) => sizes)).toEqual(
        expect.arrayContaining(['192x192', '512x512']),
      )
      const cdp = await page.context().newCDPSession(page)
      const { errors } = await cdp.send('Page.getAppManifest')
      expect(errors).toEqual([])
    })

    test('a page is handed on by the device’s own way, else by a link, a frame and a badge to copy', async () => {
      const { page } = await browser.open('/areas/ikeja', { width: 390 })
      await page.evaluate(`
        navigator.canShare = () => true
        navigator.share = async (data) => { window.shared = data }
      `)
      const button = page.getByRole('button', { name: 'Share' })
      await button.click()
      await expect.poll(() => page.evaluate('window.shared?.url')).toBe(at('/areas/ikeja'))
      expect(await page.evaluate('window.shared')).toMatchObject({ title: 'Air in Ikeja now' })
      expect(await page.locator('dialog[open]').count()).toBe(0)
      await page.evaluate(`
        navigator.share = async () => { throw new DOMException('closed', 'AbortError') }
      `)
      await button.click()
      expect(await page.locator('dialog[open]').count()).toBe(0)
      await page.evaluate('navigator.canShare = () => false')
      await page.evaluate(
        'navigator.clipboard.writeText = async (text) => { window.copied = text }',
      )
      await button.click()
      const dialog = page.locator('dialog[open]')
      for (const [place, text] of [
        [0, /\/areas\/ikeja$/],
        [1, /^<iframe src="[^"]+\/embed\/area\/ikeja"/],
        [2, /^!\[Air in Ikeja now\]\([^)]+\/badge\/area\/ikeja\.svg\)$/],
      ] as const) {
        await dialog.locator('.share button').nth(place).click()
        await expect.poll(() => page.evaluate('window.copied')).toMatch(text)
      }
      const badge = dialog.locator('img')
      await expect
        .poll(() => badge.evaluate((image) => Reflect.get(image, 'naturalWidth')))
        .toBeGreaterThan(0)
    })

    test('without a network the last seen is shown, and marked as such', async () => {
      const { page } = await browser.open(`/sensors/${allen}`, { isOfflineKept: true })
      await page.getByRole('heading', { name: 'Last reading' }).waitFor()
      await isKept(page, '/now/sensors/')
      await page.context().setOffline(true)
      await page.reload()
      await page.getByText('No connection to the server').waitFor()
      expect(await page.locator('.headline').textContent()).toContain('112')
      await page.getByRole('heading', { name: 'Last reading' }).waitFor()
      await page.context().setOffline(false)
      await page.reload()
      await page.getByRole('heading', { name: 'Last reading' }).waitFor()
      await expect.poll(() => page.getByText('No connection to the server').isVisible()).toBe(false)
      // nothing of an account is kept
      const kept = String(await page.evaluate(keptPaths))
      expect(kept).not.toMatch(/\/me|\/data\/keys|webhooks|usage|settings/)
    })
  },
)

type Manifest = {
  readonly start_url: string
  readonly scope: string
  readonly display: string
  readonly name: string
  readonly icons: readonly { readonly src: string; readonly sizes: string; readonly type: string }[]
}

const keptPaths = `(async () => {
  const names = await caches.keys()
  const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
  return all.flat().map(({ url }) => new URL(url).pathname)
})()`

/** The page's worker has taken over, and has kept what was loaded before. */
const isKept = async (page: Page, path: string): Promise<void> => {
  await expect.poll(async () => String(await page.evaluate(keptPaths))).toContain('/sensors/')
  await page.evaluate('navigator.serviceWorker.ready')
  await page.reload()
  await page.getByRole('heading', { name: 'Last reading' }).waitFor()
  await page.evaluate(`fetch('${path}${allen}', { headers: { accept: 'application/json' } })`)
  await expect.poll(async () => String(await page.evaluate(keptPaths))).toContain(path)
}

/** A page of another origin. */
async function otherPage(body: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><title>others</title>${body}`)
  })
  const url = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'test' })
  return {
    url: url.replace('127.0.0.1', 'localhost'),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
