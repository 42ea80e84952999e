/** Marks, list and legend say the same in a real Chromium: colours, order, both ways of pointing. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { europeanIndex } from '../../core/air/index/european.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, type OpenPage, pictureOf } from '../support/city-browser.ts'
import { inPill, markAt, middleOf, tipInMiddle } from '../support/seen-map.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const idOf = (at: number): string => `NGR-LOS-IKJ-00${at}`
const alone = idOf(1)
/** At one place, the last of them offline. */
const [mild, worst, under] = [idOf(2), idOf(3), idOf(4)] as const
/** Offline, and alone. */
const away = idOf(5)
const one = { lat: 6.6, lon: 3.35 }
const shared = { lat: 6.5, lon: 3.4 }
const apart = { lat: 6.4, lon: 3.5 }
const viewOf = ({ lat, lon }: typeof one, zoom = 16): string => `/?at=${lat},${lon},${zoom}`

describe.skipIf(chromiumMissing !== undefined)('the marks of the map', () => {
  let api: TestApi
  let browser: CityBrowser
  let opened: OpenPage | undefined
  beforeAll(async () => {
    api = await testApi()
    for (const [id, { lat, lon }] of [
      [alone, one],
      [mild, shared],
      [worst, shared],
      [under, shared],
      [away, apart],
    ] as const)
      await api.register({ id, sites: [siteOf('Ikeja', lat, lon)] })
    const timeMs = nowMs - 60_000
    const events = [under, away].map((id) => ({
      kind: 'offline' as const,
      // as the registry has it
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: id as SensorId,
      lastReadingMs: timeMs,
      offlineSinceMs: nowMs,
      silenceMs: 60_000,
    }))
    await api.commit(
      [
        { sensor: alone, timeMs, aqi: 42, pm25: 700, pm10: 900 },
        { sensor: mild, timeMs, aqi: 42, pm25: 700, pm10: 900 },
        { sensor: worst, timeMs, aqi: 180, pm25: 11_000, pm10: 900 },
        { sensor: under, timeMs, aqi: 400, pm25: 30_000, pm10: 900 },
        { sensor: away, timeMs, aqi: 400, pm25: 30_000, pm10: 900 },
      ],
      { events },
    )
    browser = await cityBrowser(api)
  })
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]()
    await api?.[Symbol.asyncDispose]()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail' && opened !== undefined)
      process.stdout.write(`${task.name}: ${await pictureOf(opened.page)}\n`)
    await opened?.page.context().close()
    opened = undefined
  })
  const openMap = async (path: string): Promise<OpenPage['page']> => {
    opened = await browser.open(path)
    const { page } = opened
    await page.locator('.sensor-list li').nth(4).waitFor()
    await page.locator('.map .leaflet-marks-pane canvas').waitFor()
    return page
  }

  test('a step of the European index is the same in mark, list and legend', async () => {
    const page = await openMap(`${viewOf(one)}&index=eu&mean=live`)
    const fair = europeanIndex.bands[1]?.color.toLowerCase()
    const row = page.locator('.sensor-list li', { hasText: alone })
    await expect.poll(() => row.locator('b').textContent()).toBe('2')
    expect((await row.locator('circle').getAttribute('fill'))?.toLowerCase()).toBe(fair)
    await expect.poll(() => markAt(page, inPill)).toBe(fair)
    await expect.poll(() => tipInMiddle(page)).toMatch(/: 2$/)
    const step = page.locator('.scale-bar .aqi', { hasText: 'Fair' })
    expect(await step.locator('.number').textContent()).toBe('2')
    expect((await step.locator('circle').getAttribute('fill'))?.toLowerCase()).toBe(fair)
  })

  test('a row points at its mark, and a mark at its row', async () => {
    const page = await openMap(viewOf(one))
    const row = page.locator('.sensor-list li', { hasText: alone })
    const halo = { dx: 0, dy: -15 }
    await expect.poll(() => markAt(page, inPill)).toBe('#00e400')
    expect(await markAt(page, halo)).toBe('')
    await row.hover()
    await expect.poll(() => markAt(page, halo)).toBe('#0b57c4')
    const { x, y } = await middleOf(page)
    await page.mouse.move(x + 60, y + 60)
    await expect.poll(() => markAt(page, halo)).toBe('')
    expect(await row.getAttribute('class')).toBe('')
    await page.mouse.move(x, y)
    await expect.poll(() => row.getAttribute('class')).toBe('is-pointed')
  })

  test('at one place the worst is on top, and one that is offline is small and under all', async () => {
    const page = await openMap(viewOf(shared))
    await expect.poll(() => markAt(page, inPill)).toBe('#ff0000')
    expect(await tipInMiddle(page)).toMatch(/: 180$/)
    await page.goto(browser.dashboard.url + viewOf(apart))
    await expect.poll(() => tipInMiddle(page)).toContain('Offline')
    expect(await markAt(page, inPill)).toBe('')
    expect(await markAt(page, { dx: 0, dy: 0 })).toBe('#ffffff')
  })

  test('what the stream tells is on the marks without another list', async () => {
    const page = await openMap(`${viewOf(one)}&mean=live`)
    await page.locator('.line-state[data-state=live]').waitFor()
    await expect.poll(() => markAt(page, inPill)).toBe('#00e400')
    await api.commit([{ sensor: alone, timeMs: nowMs, aqi: 120 }])
    await expect.poll(() => markAt(page, inPill)).toBe('#ff7e00')
    expect(await tipInMiddle(page)).toMatch(/: 120$/)
  })

  test('a sensor that moves is at its new place after the next list', async () => {
    opened = await browser.open('/')
    const { page } = opened
    await page.clock.install()
    await page.goto(browser.dashboard.url + viewOf(one))
    await expect.poll(() => tipInMiddle(page)).toContain(alone)
    const from = new Date(nowMs - 1_000).toISOString()
    const sites = [siteOf('Ikeja', one.lat, one.lon), siteOf('Ikeja', 6.7, 3.3, from)] as const
    await api.register({ id: alone, sites: [...sites] })
    const again = page.waitForResponse((answer) => answer.url().includes('/sensors?limit='))
    await page.clock.runFor(5 * 60_000)
    await again
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000)
        return await tipInMiddle(page)
      })
      .toBe('')
    await page.goto(browser.dashboard.url + viewOf({ lat: 6.7, lon: 3.3 }))
    await expect.poll(() => tipInMiddle(page)).toContain(alone)
  })
})
