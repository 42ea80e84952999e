/** The page of a proof in a real Chromium, over a real anchor and a real chain. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { anchoredApi } from '../support/anchored-api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { cityBrowser, overflowOf, pictureOf } from '../support/city-browser.ts'
import { axeFindings } from '../support/settings-browser.ts'

vi.setConfig({ testTimeout: 240_000 })

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const link = `/proof/${sensor}/${formatIso(nowMs)}`
const file = join(import.meta.dirname, '../fixtures/bundles/in-a-city.airproof.json')

test.skipIf(chromiumMissing !== undefined)(
  `a stranger sees a proof wait, checks it, keeps it, and checks one of their own${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  async () => {
    await using api = await anchoredApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000' } })
    await api.register({ id: sensor })
    await api.commit([{ sensor, timeMs: nowMs, pm25: null }])
    await using browser = await cityBrowser(api)
    const { page, complaints, strangers } = await browser.open(link)
    try {
      const verdict = page.locator('.verdict')
      await page.locator('.verdict[data-verdict=waiting]').waitFor()
      expect(await verdict.textContent()).toMatch(/Expected by/)
      expect(await axeFindings(page)).toEqual([])
      await api.anchored()
      // the page looks again by itself
      await page.locator('.verdict[data-verdict=proven]').waitFor({ timeout: 120_000 })
      expect(await page.locator('.checks li[data-ok=true]').count()).toBeGreaterThan(6)
      expect(await page.getByText('not measured').count()).toBe(1)
      await page.getByText('compare it with a source that you trust').waitFor()

      await page.getByText('This network anchors on a demonstration chain').waitFor()
      await page.getByText('31337, a demonstration chain', { exact: true }).waitFor()
      await page.evaluate(
        'navigator.clipboard.writeText = async (text) => { document.title = text }',
      )
      await page.getByRole('button', { name: 'Copy the link to the proof' }).click()
      const printed = await (
        await api.get(`/v1/readings/${sensor}/verify?timestamp=${formatIso(nowMs)}`)
      ).json()
      // one link, whoever gives it
      const { proof_url: proofUrl } = printed as { proof_url: string }
      await expect.poll(() => page.title()).toBe(proofUrl)
      await page.emulateMedia({ media: 'print' })
      for (const [name, isShown] of [
        ['.verdict', true],
        ['.checks', true],
        ['.top', false],
        ['.drop', false],
      ] as const)
        expect([name, await page.locator(name).isVisible()]).toEqual([name, isShown])
      await page.emulateMedia({ media: null })

      const blockHash = page.getByLabel(/^Hash of the block/)
      await blockHash.fill('0x12')
      await page.getByText('A hash is 0x and 64 hexadecimal digits.').waitFor()
      await blockHash.fill(`0x${'12'.repeat(32)}`)
      await page.locator('.verdict[data-verdict=refused]').waitFor()
      const held = await page.locator('dd.mono').allTextContents()
      expect(held).toEqual([])
      await blockHash.fill('')
      await page.locator('.verdict[data-verdict=proven]').waitFor()
      const [real = ''] = await page.locator('dd.mono').allTextContents()
      await blockHash.fill(real)
      await page.locator('.checks li', { hasText: 'Is it the block you named?' }).waitFor()

      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Keep the proof as a file' }).click(),
      ])
      const saved = readFileSync(await download.path(), 'utf8')
      expect(saved).toBe(await (await fetch(api.url + link)).text())

      await page.setInputFiles('input[type=file]', file)
      await page.getByText('NGR-LOS-IKJ-021').waitFor()
      const altered = Buffer.from(readFileSync(file, 'utf8').replace('"pm10":3621', '"pm10":3622'))
      await page.setInputFiles('input[type=file]', {
        name: 'altered.airproof.json',
        mimeType: 'application/json',
        buffer: altered,
      })
      await page.locator('.verdict[data-verdict=refused]', { hasText: 'fingerprint' }).waitFor()
      expect(await page.locator('.checks li[data-ok=false]').count()).toBe(1)

      const other = await browser.open(`${link}?hash=0x${'34'.repeat(32)}`)
      await other.page.getByText('Another reading than the link says').waitFor()
      for (const [width, scheme] of [
        [1280, 'dark'],
        [360, 'light'],
      ] as const) {
        const again = await browser.open(link, { width, scheme })
        await again.page.locator('.verdict[data-verdict=proven]').waitFor()
        expect(await axeFindings(again.page)).toEqual([])
        expect(await overflowOf(again.page)).toBeLessThanOrEqual(0)
      }
      expect(complaints).toEqual([])
      expect(strangers).toEqual([])
    } catch (error) {
      process.stdout.write(`${await pictureOf(page)}\n`)
      throw error
    }
  },
)
