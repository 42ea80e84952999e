/** Charts of much data in a real Chromium: a sensor that sends every ten seconds, areas, what is downloaded. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, secondMs } from '../../core/time.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser } from '../support/city-browser.ts'
import { readingOf } from '../support/readings.ts'
import { writeHours } from '../support/written-hours.ts'

const days = inject('soak') ? 365 : 32

const every = 10 * secondMs
const nowMs = floorTo(Date.now(), every)
const busy = 'NGR-LOS-IKJ-001'
const other = 'NGR-LOS-YAB-001'
const third = 'NGR-LOS-AGE-001'
/** Each should send every ten seconds, so a day of their readings is more than one answer reads. */
const crowd = Array.from(
  { length: 30 },
  (_, at) => `NGR-LOS-APA-${String(at).padStart(3, '0')}` as const,
)

/** Rows of a store that was filled long ago; the newest reading comes as every other. */
async function fill({ store }: TestApi): Promise<void> {
  const count = (days * dayMs) / every
  const rowAt = (at: number) =>
    readingOf({
      // as the registry has it
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: busy as SensorId,
      timeMs: nowMs - (count - at) * every,
      // beyond those of readings that come later
      seq: seqOf(partitionOf(busy), at + 1_000_000),
      pm25: 1_500 + (at % 900),
      aqi: 60 + (at % 40),
    })
  const size = 5_000
  for (let at = 0; at < count; at += size)
    await store.writeBatch(
      Array.from({ length: Math.min(size, count - at) }, (_, place) => rowAt(at + place)),
    )
}
describe.skipIf(chromiumMissing !== undefined)('charts of much data', () => {
  let api: TestApi
  let browser: CityBrowser
  let upToMs = nowMs
  beforeAll(async () => {
    api = await testApi()
    const from = formatIsoMs(nowMs - 400 * dayMs)
    const placed = (area: string) => siteOf(area, 6.6, 3.35, from)
    await api.register({ id: busy, cadence_seconds: 10, sites: [placed('Ikeja')] })
    await api.register({ id: other, sites: [placed('Yaba')] })
    await Promise.all(
      crowd.map((id) => api.register({ id, cadence_seconds: 10, sites: [placed('Apapa')] })),
    )
    await api.register({ id: third, sites: [placed('Agege')] })
    await fill(api)
    await api.commit([
      { sensor: busy, timeMs: nowMs },
      { sensor: other, timeMs: nowMs, area: 'Yaba' },
      { sensor: third, timeMs: nowMs, area: 'Agege' },
      ...crowd.map((sensor) => ({ sensor, timeMs: nowMs, area: 'Apapa' })),
    ])
    await writeHours(api, nowMs - (days + 1) * dayMs, nowMs)
    browser = await cityBrowser(api)
  }, 600_000)
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]()
    await api?.[Symbol.asyncDispose]()
  })

  const drawn = async (page: Page): Promise<void> => {
    await page.locator('.charts .uplot canvas').first().waitFor()
    await expect.poll(() => page.locator('.is-asking').count()).toBe(0)
  }
  /** On a busy machine a test may begin minutes after the last reading: those since then come now. */
  const keepUp = async (): Promise<void> => {
    const fromMs = upToMs
    upToMs = floorTo(Date.now(), every)
    const since: Told[] = []
    for (let timeMs = fromMs + every; timeMs <= upToMs; timeMs += every)
      since.push({ sensor: busy, timeMs })
    if (since.length > 0) await api.commit(since)
  }
  /** Bytes of each answer of statistics, as they are sent. */
  const openWatched = async (path: string) => {
    const { page } = await browser.open('/about')
    const sizes: Promise<number>[] = []
    page.on('response', (answer) => {
      if (!answer.url().includes('/statistics?') || !answer.ok()) return
      const size = answer.body().then(
        (body) => gzipSync(body, { level: 1 }).length,
        () => 0,
      )
      sizes.push(size)
    })
    const begin = performance.now()
    await page.goto(browser.dashboard.url + path)
    await drawn(page)
    return { page, tookMs: performance.now() - begin, sizes: await Promise.all(sizes) }
  }

  test.each([
    ['24h', 'ten-minute'],
    ['7d', 'hours'],
    ['30d', 'three-hour'],
    ['1y', 'days'],
  ])(
    `a sensor with every reading of ${days} days at ten seconds opens: %s`,
    async (period, step) => {
      await keepUp()
      const { page, sizes, tookMs } = await openWatched(`/sensors/${busy}?period=${period}`)
      process.stdout.write(`${period}: ${Math.round(tookMs)} ms, ${sizes.join(' + ')} bytes\n`)
      expect(await page.locator('.heard').textContent()).toContain(step)
      expect(await page.locator('.heard .silent').count()).toBe(
        period === '1y' && days < 365 ? 1 : 0,
      )
      expect(Math.max(...sizes)).toBeLessThanOrEqual(15_000)
      await page.close()
    },
  )

  test('a day of an area of many sensors is in hours, where ten minutes are more than one answer', async () => {
    const { page, sizes } = await openWatched('/areas/apapa')
    await page.getByText('Hourly averages').waitFor()
    expect(Math.max(...sizes)).toBeLessThanOrEqual(15_000)
    const small = await openWatched('/areas/yaba')
    await small.page.getByText('Averages of 10 minutes').waitFor()
    await Promise.all([page.close(), small.page.close()])
  })

  test('areas are compared by their names, up to four', async () => {
    const { page } = await browser.open('/areas/ikeja?period=7d')
    await drawn(page)
    const add = async (name: string): Promise<void> => {
      await page.getByLabel('Place to compare with').fill(name)
      await page.getByRole('button', { name: 'Add' }).click()
    }
    await add('Nowhere')
    await page.getByText('There is no area Nowhere.').waitFor()
    await add('yaba')
    await page.getByRole('link', { name: 'CSV of Yaba' }).waitFor()
    expect(new URL(page.url()).searchParams.get('compare')).toBe('yaba')
    await page.reload()
    await page.getByRole('button', { name: 'Remove Yaba' }).waitFor()
    await drawn(page)
    const plot = page.getByRole('slider', { name: /Air quality index/ })
    await expect
      .poll(() => plot.getAttribute('aria-label'))
      .toMatch(/Ikeja\. Air quality index: .*Yaba\. Air quality index: /s)
    await add('Apapa')
    await page.getByRole('button', { name: 'Remove Apapa' }).waitFor()
    await add('Agege')
    await page.getByText('Four can be compared at once.').waitFor()
    await page.close()
  })

  test('what is downloaded is what is seen, number for number', async () => {
    const { page } = await openWatched(`/sensors/${busy}?period=7d`)
    await page.getByText('Show as a table').click()
    const rows = page.locator('.chart-table tbody tr')
    await rows.first().waitFor()
    const seen = (await rows.allTextContents()).length
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV', exact: true }).click(),
    ])
    const [head = '', ...lines] = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n')
    const columns = head.split(',')
    const cells = lines.map((line) => line.split(','))
    const valuesOf = (name: string): number[] =>
      cells.flatMap((row) => {
        const text = row[columns.indexOf(name)] ?? ''
        return text === '' ? [] : [Number(text)]
      })
    const means = valuesOf('pm25_mean').toReversed()
    expect(means).toHaveLength(seen)
    const place = await page
      .locator('.chart-table thead th')
      .allTextContents()
      .then((names) => names.findIndex((name) => name.startsWith('PM2.5 µg/m³')))
    const shown = await rows.evaluateAll(
      (all, at) => all.map((row) => Number(row.children[at]?.textContent)),
      place,
    )
    const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })
    expect(shown).toEqual(means.map((mean) => Number(numbers.format(mean))))
    await page.close()
  })
})
