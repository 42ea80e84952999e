/** The map in a real Chromium: its ground in parts, gestures, what it shows, and hard cases. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import {
  type CityBrowser,
  cityBrowser,
  type OpenPage,
  overflowOf,
  pictureOf,
} from '../support/city-browser.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const [first, second, odd] = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-YAB-003'] as const
/** 200 characters, right to left, with markup. */
const longName = `<b onmouseover=alert(1)>${'شارع الميناء الطويل '.repeat(12)}`.slice(0, 200)

describe.skipIf(chromiumMissing !== undefined)(
  `the map${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    let api: TestApi
    let browser: CityBrowser
    let opened: OpenPage | undefined
    beforeAll(async () => {
      api = await testApi()
      await api.register({ id: first, sites: [siteOf('Ikeja', 6.6, 3.35)] })
      await api.register({ id: second, sites: [siteOf('Ikeja', 6.55, 3.45)] })
      await api.register({
        id: odd,
        sites: [{ ...siteOf('Yaba', 6.45, 3.4), address: longName }],
      })
      await api.commit([
        {
          sensor: first,
          timeMs: nowMs - 60_000,
          aqi: 42,
          pm25: 700,
          pm10: 900,
          temperature: 2_410,
        },
        { sensor: second, timeMs: nowMs - 60_000, aqi: 180, temperature: 3_060 },
        { sensor: odd, timeMs: nowMs - 60_000, aqi: 90, temperature: 2_800 },
      ])
      browser = await cityBrowser(api)
    })
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]()
      await api?.[Symbol.asyncDispose]()
    })
    afterEach(async ({ task }) => {
      if (opened === undefined) return
      if (task.result?.state === 'fail')
        process.stdout.write(`${task.name}: ${await pictureOf(opened.page)}\n`)
      await opened.page.context().close()
      opened = undefined
    })

    const openMap = async (path = '/', looks = {}): Promise<OpenPage['page']> => {
      opened = await browser.open(path, looks)
      const { page } = opened
      await page.locator('.sensor-list li').nth(2).waitFor()
      await page.locator('.map .leaflet-marks-pane canvas').waitFor()
      return page
    }
    const at = (page: OpenPage['page']): readonly number[] =>
      (new URL(page.url()).searchParams.get('at') ?? '').split(',').map(Number)

    test('the ground is served in ranges, and tells what it is', async () => {
      const settings = await (await fetch(`${browser.dashboard.url}/config.json`)).json()
      const { map } = settings as { map: { url: string; box: number[]; attribution: string } }
      expect(map.box).toEqual([2.7, 6.2, 4.4, 7])
      expect(map.attribution).toContain('GSHHG')
      const url = browser.dashboard.url + map.url
      const part = await fetch(url, { headers: { range: 'bytes=0-6' } })
      expect([part.status, await part.text()]).toEqual([206, 'PMTiles'])
      const size = Number(part.headers.get('content-range')?.split('/')[1])
      expect(part.headers.get('content-range')).toBe(`bytes 0-6/${size}`)
      const whole = await fetch(url)
      expect([whole.status, (await whole.bytes()).length]).toEqual([200, size])
      const outside = await fetch(url, { headers: { range: `bytes=${size}-` } })
      expect([outside.status, outside.headers.get('content-range')]).toEqual([
        416,
        `bytes */${size}`,
      ])
      const etag = part.headers.get('etag') ?? ''
      const same = await fetch(url, { headers: { 'if-none-match': etag } })
      expect(same.status).toBe(304)
      const other = { range: 'bytes=0-6', 'if-range': '"of another file"' }
      expect((await fetch(url, { headers: other })).status).toBe(200)
    })

    test('the ground is drawn after the marks, and nothing of it comes from another server', async () => {
      const page = await openMap()
      const isDrawn = () =>
        page.evaluate(`[...document.querySelectorAll('.leaflet-ground-pane canvas')].some((tile) => {
          const { data } = tile.getContext('2d').getImageData(0, 0, tile.width, tile.height)
          return new Set(Array.from({ length: data.length / 4 }, (_, at) => data[at * 4])).size > 2
        })`)
      await expect.poll(isDrawn).toBe(true)
      await page.getByRole('link', { name: 'GeoNames' }).waitFor()
      expect(opened?.complaints).toEqual([])
      expect(opened?.strangers).toEqual([])
    })

    test('the wheel scrolls the page; with Ctrl it zooms the map, which the address keeps', async () => {
      const page = await openMap()
      const box = await page.locator('.map').boundingBox()
      await page.mouse.move((box?.x ?? 0) + 560, (box?.y ?? 0) + 180)
      const before = Number(await page.evaluate('scrollY'))
      const hinted = page.getByText('Hold Ctrl and scroll').waitFor()
      await page.mouse.wheel(0, 240)
      await hinted
      await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(before)
      expect(new URL(page.url()).searchParams.has('at')).toBe(false)
      await page.evaluate('scrollTo(0, 0)')
      await page.keyboard.down('Control')
      await page.mouse.wheel(0, -240)
      await page.keyboard.up('Control')
      await expect.poll(() => at(page)[2]).toBeGreaterThan(8)
      const [, , zoom] = at(page)
      await page.reload()
      await page.locator('.map .leaflet-marks-pane canvas').waitFor()
      expect(at(page)[2]).toBe(zoom)
    })

    test('another quantity is shown by map and list, with steps in the legend, and stays on reload', async () => {
      const page = await openMap()
      await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('temperature')
      await page.locator('.sensor-list li', { hasText: '24.1' }).waitFor()
      const shown = (): string | null => new URL(page.url()).searchParams.get('show')
      await expect.poll(shown).toBe('temperature')
      await expect
        .poll(() => page.locator('.sensor-list li').first().textContent())
        .toContain('30.6')
      await page.locator('.scale-bar', { hasText: '°C' }).waitFor()
      await page.reload()
      await page.locator('.sensor-list li', { hasText: '24.1' }).waitFor()
      await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('aqi')
      await page.locator('.map-switch select').nth(2).selectOption('eu')
      await page.locator('.scale-bar', { hasText: 'Extremely poor' }).waitFor()
    })

    test('near me selects the nearest sensor, and moves nothing for a reader who is far away', async () => {
      const page = await openMap()
      await page.context().grantPermissions(['geolocation'])
      await page.context().setGeolocation({ latitude: 6.56, longitude: 3.44 })
      await page.getByRole('button', { name: 'Near me' }).click()
      await page.locator('.preview', { hasText: second }).waitFor()
      await page.context().setGeolocation({ latitude: 48, longitude: 11 })
      await page.getByRole('button', { name: 'Near me' }).click()
      await page.getByText('You are far from this network').waitFor()
      expect(new URL(page.url()).searchParams.get('sensor')).toBe(second)
    })

    test('a search moves the map to what it found', async () => {
      const page = await openMap('/?at=6.5,3.4,8')
      await page.getByRole('searchbox').fill('ikj-002')
      const middle = async (): Promise<string> => {
        const box = await page.locator('.map').boundingBox()
        const [x, y] = [
          (box?.x ?? 0) + (box?.width ?? 0) / 2,
          (box?.y ?? 0) + (box?.height ?? 0) / 2,
        ]
        await page.mouse.move(x + 1, y)
        await page.mouse.move(x, y)
        return (await page.locator('.map-tip').allTextContents()).join('')
      }
      await expect.poll(middle).toContain(second)
    })

    test.each([390, 1280])(
      'a name of 200 characters, right to left, with markup stays text at %i px',
      async (width) => {
        const page = await openMap(`/?sensor=${odd}`, { width })
        const preview = page.locator('.preview')
        await preview.getByText(longName.trim()).waitFor()
        const row = page.locator('.sensor-list li .place', { hasText: longName.slice(0, 40) })
        expect(await row.textContent()).toBe(longName)
        expect(await page.locator('b[onmouseover]').count()).toBe(0)
        // of the legend every symbol is on show, open or not: six steps, and none
        const symbols = page.locator('.scale-bar svg').filter({ visible: true })
        expect(await symbols.count()).toBe(7)
        expect(await overflowOf(page)).toBeLessThanOrEqual(0)
        expect(opened?.complaints).toEqual([])
      },
    )
  },
)
