/** The table of a sensor's readings in a real Chromium, over a real anchor and a real chain. */
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maskOf } from '../../core/air/quality.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, overflowOf, pictureOf } from '../support/city-browser.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const noticed = maskOf('pm_flat') | maskOf('pm_spike') | maskOf('humidity_stuck')

async function on(page: Page, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    process.stdout.write(`${await pictureOf(page)}\n`)
    throw error
  }
}

describe.skipIf(chromiumMissing !== undefined)(
  `the table of a sensor${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let api: AnchoredApi
    let browser: CityBrowser
    beforeAll(async () => {
      api = opened.use(await anchoredApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000' } }))
      await api.register({ id: sensor })
      await api.commit(
        [30, 20, 10].map((ageS) => ({
          sensor,
          timeMs: nowMs - ageS * 1000,
          pm25: 2200,
          flags: ageS === 30 ? noticed : 0,
        })),
      )
      await api.anchored()
      browser = opened.use(await cityBrowser(api))
    })
    afterAll(() => opened.disposeAsync())

    const badges = (page: Page) => page.locator('.readings .proof-badge')

    test('a tick is only where the browser has checked the leaf, and an altered row has none', async () => {
      using db = new DatabaseSync(api.storeFile, { timeout: 5_000 })
      await api.stopApi()
      const { changes } = db
        .prepare('update reading set pm25 = 100 where t = ?')
        .run(nowMs - 20_000)
      expect(changes).toBe(1)
      await api.startApi()
      const { page } = await browser.open(`/sensors/${sensor}`)
      await on(page, async () => {
        await expect.poll(() => badges(page).count()).toBe(3)
        // the server says “verified” of all three
        const listed = await (await api.get(`/v1/readings?sensor_id=${sensor}`)).json()
        const { readings } = listed as { readings: { blockchain: { verified: boolean } }[] }
        expect(readings.map(({ blockchain }) => blockchain.verified)).toEqual([true, true, true])
        expect(
          await page.locator('.readings .proof-badge.ok, .readings .proof-badge.warn').count(),
        ).toBe(0)
        for (const text of await badges(page).allTextContents()) expect(text).toMatch(/^in a batch/)
        await page.getByRole('button', { name: 'Check these readings' }).click()
        await expect
          .poll(async () =>
            (await badges(page).allTextContents()).map((text) => text.split(', proof')[0]),
          )
          .toEqual(['✓ batch 1, test chain', '✗ does not match', '✓ batch 1, test chain'])
        // nothing is green that a test chain vouches for
        expect(await page.locator('.readings .proof-badge.ok').count()).toBe(0)
        expect(await page.locator('.readings .proof-badge.error').count()).toBe(1)
      })
    })

    test('new readings come by themselves, wait with a countdown, and turn', async () => {
      const { page, complaints } = await browser.open(`/sensors/${sensor}`)
      await on(page, async () => {
        await expect.poll(() => badges(page).count()).toBe(3)
        // no block is made until the reader has seen it wait
        api.anvil.freeze()
        await api.commit([{ sensor, timeMs: nowMs, pm25: 2300 }])
        await expect.poll(() => badges(page).count()).toBe(4)
        await expect.poll(() => badges(page).first().textContent()).toMatch(/^waiting \d+:\d\d/)
        api.anvil.thaw()
        await api.anchored()
        // checked without being asked for: it turned before the reader's eyes
        await expect.poll(() => badges(page).first().textContent()).toMatch(/^✓ batch \d/)
        expect(complaints).toEqual([])
      })
    })

    test('what was noticed of a row is a badge, and sentences on demand', async () => {
      const { page } = await browser.open(`/sensors/${sensor}`)
      await on(page, async () => {
        const row = page.locator('.readings tbody tr').last()
        await row.getByText('3 notes').waitFor()
        const { height = 0 } = (await row.boundingBox()) ?? {}
        expect(height).toBeLessThan(60)
        await row.getByText('3 notes').click()
        await row.getByText('The humidity does not change').waitFor()
      })
    })

    test('a phone shows time, particles, index and proof without scrolling sideways', async () => {
      const { page } = await browser.open(`/sensors/${sensor}`, { width: 390, scheme: 'dark' })
      await on(page, async () => {
        await badges(page).first().waitFor()
        const { x = 0, width = 0 } = (await badges(page).first().boundingBox()) ?? {}
        expect(x + width).toBeLessThanOrEqual(390)
        const cells = page.locator('.readings tbody tr').first().locator('td')
        expect(await cells.nth(1).textContent()).toMatch(/^2[23]\.0$/)
        expect(await overflowOf(page)).toBeLessThanOrEqual(0)
      })
    })
  },
)
