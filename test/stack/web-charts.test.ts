/** Charts in a real Chromium: what they ask for, what they show, and what they say. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { siteOf, type TestApi, type Told, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser } from '../support/city-browser.ts'

const nowMs = floorTo(Date.now(), 10 * secondMs)
/** Sends every ten seconds, and was silent for two hours of its second to last day. */
const busy = 'NGR-LOS-IKJ-001'
/** Sends every half hour. */
const rare = 'NGR-LOS-IKJ-002'
/** Its data ends two years ago. */
const old = 'NGR-LOS-IKJ-003'
const silent = 'NGR-LOS-IKJ-004'
const once = 'NGR-LOS-IKJ-005'
const oldEndMs = floorTo(nowMs - 700 * dayMs, dayMs) + 9 * hourMs

function* readings(): Generator<Told> {
  const values = (timeMs: number) => ({
    pm25: 1_500 + (Math.floor(timeMs / minuteMs) % 900),
    aqi: 60 + (Math.floor(timeMs / minuteMs) % 40),
  })
  for (let timeMs = nowMs - dayMs; timeMs <= nowMs; timeMs += 10 * secondMs)
    yield { sensor: busy, timeMs, ...values(timeMs) }
  for (let timeMs = nowMs - 340 * dayMs; timeMs < nowMs - dayMs; timeMs += 6 * hourMs)
    yield { sensor: busy, timeMs, ...values(timeMs) }
  for (let timeMs = nowMs - 3 * dayMs; timeMs <= nowMs; timeMs += 30 * minuteMs)
    yield { sensor: rare, timeMs, ...values(timeMs) }
  for (let timeMs = oldEndMs - 20 * dayMs; timeMs <= oldEndMs; timeMs += 30 * minuteMs)
    yield { sensor: old, timeMs, ...values(timeMs) }
  yield { sensor: once, timeMs: nowMs - 5 * minuteMs, ...values(nowMs) }
}

describe.skipIf(chromiumMissing !== undefined)('charts', () => {
  let api: TestApi
  let browser: CityBrowser
  let upToMs = nowMs
  beforeAll(async () => {
    api = await testApi()
    const site = siteOf('Ikeja', 6.6, 3.35, formatIsoMs(nowMs - 365 * dayMs))
    await api.register({ id: busy, cadence_seconds: 10, sites: [site] })
    await api.register({ id: rare, cadence_seconds: 1_800, sites: [site] })
    const before = siteOf('Ikeja', 6.6, 3.36, formatIsoMs(nowMs - 800 * dayMs))
    await api.register({ id: old, cadence_seconds: 1_800, sites: [before] })
    for (const id of [silent, once]) await api.register({ id, sites: [site] })
    const all = [...readings()].toSorted((a, b) => a.timeMs - b.timeMs)
    for (let at = 0; at < all.length; at += 1_500) await api.commit(all.slice(at, at + 1_500))
    browser = await cityBrowser(api)
  })
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]()
    await api?.[Symbol.asyncDispose]()
  })

  const drawn = async (page: Page): Promise<void> => {
    await page.locator('.charts .uplot canvas').first().waitFor()
    await expect.poll(() => page.locator('.is-asking').count()).toBe(0)
  }
  /** What is far below is asked for when it is reached. */
  const drawnBelow = async (page: Page): Promise<void> => {
    for (const [place, table] of [
      ['.calendar', '.calendar table'],
      ['.pattern', '.pattern table'],
    ] as const) {
      await page.locator(place).scrollIntoViewIfNeeded()
      await page.locator(table).first().waitFor()
    }
  }
  /** On a busy machine a test may begin minutes after the last reading: those since then come now. */
  const keepUp = async (): Promise<void> => {
    const fromMs = upToMs
    upToMs = floorTo(Date.now(), 10 * secondMs)
    const since: Told[] = []
    for (let timeMs = fromMs + 10 * secondMs; timeMs <= upToMs; timeMs += 10 * secondMs)
      since.push({ sensor: busy, timeMs })
    if (since.length > 0) await api.commit(since)
  }
  const valueOf = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)
  const shown = async (page: Page): Promise<string> =>
    (await page.locator('.period-shown').textContent()) ?? ''

  test('of a day with every reading of a ten-second sensor have no silence, in one small answer', async () => {
    await keepUp()
    const { page, complaints } = await browser.open(`/sensors/${busy}`)
    await drawn(page)
    expect(await page.locator('.heard').textContent()).toMatch(/Data in all \d+ ten-minute steps/)
    expect(await page.locator('.heard .silent').count()).toBe(0)
    expect(complaints).toEqual([])
    await page.close()
  })

  test.each(['24h', '7d', '30d', '1y', '2026-01-01..2026-11-20'])(
    'ask for at most 15 kB, compressed, at once: %s',
    async (period) => {
      const { page } = await browser.open('/')
      const sizes: number[] = []
      page.on('response', (answer) => {
        if (!answer.url().includes('/statistics?')) return
        void answer.body().then(
          (body) => sizes.push(gzipSync(body, { level: 1 }).length),
          () => undefined,
        )
      })
      await page.goto(`${browser.dashboard.url}/sensors/${busy}?period=${period}`)
      await drawn(page)
      await drawnBelow(page)
      process.stdout.write(`${period}: ${sizes.length} answers, ${sizes.join(' + ')} bytes gzip\n`)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(15_000)
      await page.close()
    },
  )

  test('of a sensor that sends every half hour are lines, and say nothing of silence', async () => {
    const { page } = await browser.open(`/sensors/${rare}`)
    await drawn(page)
    expect(await page.locator('.heard .silent').count()).toBe(0)
    await page.close()
  })

  test('of an archive open at its newest data', async () => {
    const { page } = await browser.open(`/sensors/${old}`)
    await drawn(page)
    const year = new Date(oldEndMs).getUTCFullYear()
    expect(await shown(page)).toContain(String(year))
    await page.getByRole('button', { name: 'Year' }).click()
    await page.getByText('Daily averages').waitFor()
    await drawn(page)
    await page.getByRole('button', { name: 'Earlier' }).click()
    await page.getByText('No data in this period').waitFor()
    await page.goBack()
    await drawn(page)
    expect(valueOf(page, 'period')).toBe('1y')
    await page.close()
  })

  test('of no reading and of one say so', async () => {
    const none = await browser.open(`/sensors/${silent}`)
    await none.page.getByText('Charts appear with the first reading.').waitFor()
    expect(await none.page.locator('.long-views').count()).toBe(0)
    const one = await browser.open(`/sensors/${once}`)
    await drawn(one.page)
    const plot = one.page.getByRole('slider', { name: /^Air quality index/ })
    expect(await plot.getAttribute('aria-label')).toMatch(/: (\d+) on average, from \1 to \1\./)
    await Promise.all([none.page.close(), one.page.close()])
  })

  test('are read by keyboard, all at one time, in the zone that the reader chose', async () => {
    const { page } = await browser.open(`/sensors/${busy}`)
    await drawn(page)
    const plots = page.getByRole('slider')
    await plots.first().focus()
    for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'PageUp', 'ArrowLeft'])
      await page.keyboard.press(key)
    const places = await plots.evaluateAll((all) =>
      all.map((plot) => plot.getAttribute('aria-valuenow')),
    )
    expect(new Set(places)).toEqual(new Set(['13']))
    const inLagos = (await plots.first().getAttribute('aria-valuetext')) ?? ''
    expect(inLagos).toMatch(/^\w+,? \d+ \w+,? \d\d:\d\d: \d+ \(\d+ to \d+\)$/)
    expect(await page.locator('.chart-tip').first().textContent()).toContain('to')
    expect(await shown(page)).toContain('Lagos, UTC+1')
    await page.getByLabel('Time zone').selectOption('utc')
    await expect.poll(() => shown(page)).toContain('Times in UTC')
    await expect.poll(() => valueOf(page, 'zone')).toBe('utc')
    await drawn(page)
    await page.goto(`${browser.dashboard.url}/sensors/${rare}`)
    await drawn(page)
    expect(await shown(page)).toContain('Times in UTC')
    await page.close()
  })

  test('of several sensors are beside each other, and are downloaded as they are seen', async () => {
    const { page } = await browser.open(`/sensors/${busy}?period=7d`)
    await drawn(page)
    await page.getByLabel('Sensor to compare with').fill('NGR-LOS-IKJ-999')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('There is no sensor NGR-LOS-IKJ-999.').waitFor()
    await page.getByLabel('Sensor to compare with').fill(rare.toLowerCase())
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('link', { name: `CSV of ${rare}` }).waitFor()
    await expect.poll(() => valueOf(page, 'compare')).toBe(rare)
    await drawn(page)
    const plot = page.getByRole('slider', { name: /Air quality index/ })
    expect(await plot.getAttribute('aria-valuetext')).toMatch(
      new RegExp(`${busy}: .*${rare}: `, 's'),
    )
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: `CSV of ${busy}` }).click(),
    ])
    const [head, ...rows] = readFileSync(await csv.path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(head).toMatch(/^start_time,.*pm25_mean,pm25_min,pm25_max/)
    expect(rows).toHaveLength(169)
    const [png] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Picture (PNG)' }).click(),
    ])
    expect(png.suggestedFilename()).toBe(`${busy}.png`)
    const picture = readFileSync(await png.path())
    expect(picture.subarray(1, 4).toString()).toBe('PNG')
    expect(picture.length).toBeGreaterThan(20_000)
    await page.getByRole('button', { name: `Remove ${rare}` }).click()
    await page.getByRole('link', { name: 'CSV', exact: true }).waitFor()
    await page.close()
  })

  test('of an area are on its page', async () => {
    const { page, complaints } = await browser.open('/areas/ikeja?period=7d')
    await drawn(page)
    expect(await page.getByRole('slider').first().getAttribute('aria-label')).toMatch(
      /^Air quality index: \d+ on average/,
    )
    expect(complaints).toEqual([])
    await page.close()
  })

  test.each([-1, 1])(
    'are by the server’s clock where that of the device is %i day off',
    async (days) => {
      await keepUp()
      const { page } = await browser.open('/')
      await page.clock.install({ time: nowMs + days * dayMs })
      await page.goto(`${browser.dashboard.url}/sensors/${busy}`)
      await drawn(page)
      const lagosToday = new Date(Date.now() + hourMs).getUTCDate()
      expect(await shown(page)).toMatch(new RegExp(`– ${lagosToday} `))
      expect(await page.locator('.heard .silent').count()).toBe(0)
      await page.close()
    },
  )

  test('left open for an hour ask for less than 1 MB, all of the page', async () => {
    const { page } = await browser.open('/')
    await page.clock.install()
    await page.goto(`${browser.dashboard.url}/sensors/${busy}`)
    await drawn(page)
    const sizes: Promise<number>[] = []
    page.on('requestfinished', (request) => {
      const size = request.sizes().then(
        ({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize,
        () => 0,
      )
      sizes.push(size)
    })
    const minutes = 10
    for (let minute = 0; minute < minutes; minute++) {
      for (let part = 0; part < 3; part++) {
        const before = sizes.length
        await page.clock.runFor(20 * secondMs)
        // an answer that is still on the way would be given up by the next question
        await expect.poll(() => sizes.length).toBeGreaterThan(before)
      }
    }
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    const ofHour = Math.round((bytes * 60) / minutes)
    process.stdout.write(
      `left open for ${minutes} min: ${sizes.length} answers, ${bytes} bytes: ${ofHour} in an hour\n`,
    )
    expect(sizes.length).toBeGreaterThan(20)
    expect(ofHour).toBeLessThan(1_000_000)
    await page.close()
  })
})
