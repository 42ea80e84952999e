/** The page of the city in a real Chromium, over a real API and its stream. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { visionColors } from '../../core/air/index/vision-colors.ts'
import { environment } from '../../runtime/process/config.ts'
import { siteOf, type TestApi, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, type OpenPage, pictureOf } from '../support/city-browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

/** A browser on a busy machine. */
const script = '<img src=x onerror="alert(1)">'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const ikeja = ['NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002'] as const
const yaba = 'NGR-LOS-YAB-003'

describe.skipIf(chromiumMissing !== undefined)(
  `the city${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    let api: TestApi
    let browser: CityBrowser
    let opened: OpenPage
    beforeAll(async () => {
      api = await testApi()
      for (const [at, id] of ikeja.entries())
        await api.register({
          id,
          sites: [{ ...siteOf('Ikeja', 6.6 + at / 100), address: `${at} ${script}` }],
        })
      await api.register({ id: yaba, sites: [siteOf('Yaba', 6.5)] })
      await api.commit([
        { sensor: ikeja[0], timeMs: nowMs - 60_000, aqi: 42 },
        { sensor: ikeja[1], timeMs: nowMs - 60_000, aqi: 180 },
      ])
      browser = await cityBrowser(api)
    })
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]()
      await api?.[Symbol.asyncDispose]()
    })
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail')
        process.stdout.write(`${task.name}: ${await pictureOf(opened.page)}\n`)
      await opened.page.context().close()
    })

    const rows = () => opened.page.locator('.sensor-list li')

    test('sensors are on the map and in the list, worst first, and a new reading moves them', async () => {
      opened = await browser.open('/')
      const { page } = opened
      await rows().nth(2).waitFor()
      expect(await rows().nth(0).textContent()).toMatch(/180.*Unhealthy.*NGR-LOS-IKJ-002/)
      expect(await rows().nth(2).textContent()).toContain('has not sent yet')
      expect(await rows().nth(2).textContent()).not.toContain('offline')
      await page.getByText('3, 1 without data yet').waitFor()
      // what a person typed is text and nothing else
      expect(await rows().nth(0).textContent()).toContain(script)
      await page.locator('.line-state[data-state=live]').waitFor()
      await page.locator('.map canvas').first().waitFor()
      await api.commit([{ sensor: ikeja[0], timeMs: nowMs, aqi: 321 }])
      await page.locator('.sensor-list li', { hasText: '321' }).waitFor()
      await page.locator('.sensor-list li:first-child', { hasText: ikeja[0] }).waitFor()
      expect(opened.complaints).toEqual([])
      expect(opened.strangers).toEqual([])
    })

    test('a sensor under the pointer is named, and a click previews it beside the map', async () => {
      opened = await browser.open('/')
      const { page } = opened
      await rows().nth(2).waitFor()
      await page.locator('.map canvas').first().waitFor()
      await page.locator('.city-filters').getByLabel('Area').selectOption('Yaba')
      // alone in its area, it is in the middle
      const middle = async (): Promise<{ readonly x: number; readonly y: number }> => {
        const box = await page.locator('.map').boundingBox()
        if (box === null) throw new Error('the map has no box')
        return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
      }
      let moves = 0
      await expect
        .poll(async () => {
          // one move a look: of two within 32 ms the map passes over the second
          const { x, y } = await middle()
          await page.mouse.move(x + (moves++ % 3), y)
          // without a wait for it: only another move brings it
          return page.locator('.map-tip').allTextContents()
        })
        .toEqual([expect.stringContaining(yaba)])
      const { x, y } = await middle()
      await page.mouse.click(x, y)
      const preview = page.locator('.preview')
      await preview.getByText(yaba).waitFor()
      expect(page.url()).toContain(`sensor=${yaba}`)
      await preview.press('Escape')
      await preview.waitFor({ state: 'detached' })
      await page.mouse.click(x, y)
      await preview.getByRole('link').click()
      await page.waitForURL(`**/sensors/${yaba}`)
      await page.getByText('Has not sent yet').first().waitFor()
    })

    test('the list is searched and filtered, and the area’s day is shown', async () => {
      opened = await browser.open('/')
      const { page } = opened
      await page.getByLabel('Search by place or id').fill('ikj-002')
      await expect.poll(() => rows().count()).toBe(1)
      await page.getByLabel('Search by place or id').fill('nowhere')
      await page.getByText('No matching sensors').waitFor()
      await page.getByLabel('Search by place or id').fill('')
      await page.locator('.city-filters').getByLabel('Area').selectOption('Ikeja')
      await expect.poll(() => rows().count()).toBe(2)
      await page.locator('.city-area').scrollIntoViewIfNeeded()
      await page.getByRole('heading', { name: 'History', exact: true }).waitFor()
      await page.locator('.city-area .uplot canvas').first().waitFor()
    })

    test('the choice of colours is remembered', async () => {
      opened = await browser.open('/')
      const { page } = opened
      const color = () => page.locator('.legend path').first().getAttribute('fill')
      await page.getByText('Legend').click()
      expect(await color()).toBe('#00E400')
      await page.getByLabel('Colour-blind friendly colours').check()
      await expect.poll(color).toBe(visionColors[0])
      await page.reload()
      await page.locator('.map-key').waitFor()
      expect(await color()).toBe(visionColors[0])
    })
  },
)

test.skipIf(chromiumMissing !== undefined)(
  'a city without sensors shows how to add the first one, and an API that is away is reported in words',
  async () => {
    await using api = await testApi()
    await using browser = await cityBrowser(api)
    const { page } = await browser.open('/')
    await page.getByRole('heading', { name: 'No sensors yet' }).waitFor()
    const command = (await page.locator('.empty pre').textContent()) ?? ''
    await api.stopApi()
    await page.reload()
    await page.getByRole('alert').waitFor()
    await api.startApi()
    await expect
      .poll(
        async () => {
          const again = page.getByRole('button', { name: 'Try again' })
          if (await again.isVisible()) await again.click()
          return page.getByRole('heading', { name: 'No sensors yet' }).isVisible()
        },
        { interval: 500 },
      )
      .toBe(true)
    // what an operator copies first
    using folder = temporaryFolder()
    const { stdout } = await run(
      'bash',
      ['-c', command.replace('npx airproof', `"${process.execPath}" bin/airproof.mjs`)],
      {
        env: {
          ...environment(),
          NATS_URL: api.nats.url,
          AIRPROOF_DATA: folder.path,
        },
      },
    )
    const [id = ''] = /NGR-LOS-\w+-\d+/.exec(command) ?? []
    expect(stdout).toContain(`added ${id}`)
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.locator('.sensor-list li', { hasText: id }).isVisible()
        },
        { interval: 1_000 },
      )
      .toBe(true)
    // it sent once, and nothing has arrived since: connected, and not called live
    await api.commit([{ sensor: id, timeMs: nowMs - 45 * 60_000, aqi: 180, pm25: 10_000 }])
    const headline = page.locator('.headline')
    await expect
      .poll(() => headline.textContent())
      .toMatch(/No data arrives.*Nothing has arrived since/)
    const badge = page.locator('.line-state')
    await expect.poll(() => badge.textContent()).toContain('no sensor has reported since')
    expect(await badge.locator('time').count()).toBe(1)
    const plain = await (await fetch(`${browser.dashboard.url}/now`)).text()
    expect(plain).toMatch(/^Lagos: No data arrives\nNothing has arrived since/)
    // and it turns by itself
    await api.commit([
      { sensor: id, timeMs: Math.floor(Date.now() / 1000) * 1000, aqi: 180, pm25: 10_000 },
    ])
    await page.locator('.line-state[data-state=live]').waitFor()
    await expect.poll(() => headline.textContent()).not.toContain('No data arrives')
  },
  // answers are kept for 20 s, and a page asks twice a minute
  400_000,
)
