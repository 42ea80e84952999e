/** The page of a sensor in a real Chromium. */
import { readFileSync } from 'node:fs'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { formatIso, formatIsoMs } from '../../core/iso-time.ts'
import { deploymentKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { siteOf, testApi } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { cityBrowser, pictureOf } from '../support/city-browser.ts'

/** A browser on a busy machine. */
const id = 'NGR-LOS-IKJ-001'
const young = 'NGR-LOS-YAB-002'
const minuteMs = 60_000
const nowMs = Math.floor(Date.now() / 1000) * 1000

test.skipIf(chromiumMissing !== undefined)(
  `a sensor’s page shows now, its day with its gaps, and reading by reading${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  async () => {
    await using api = await testApi()
    await api.register({ id, sites: [siteOf('Ikeja')] })
    // forty readings, an hour of silence, ten more
    const ages = [
      ...Array.from({ length: 40 }, (_, at) => 300 - at * 5),
      ...Array.from({ length: 10 }, (_, at) => 45 - at * 5),
    ]
    await api.commit(
      ages.map((age) => ({
        sensor: id,
        timeMs: nowMs - age * minuteMs,
        ...(age === 0 ? { pm25: 8000, pm10: 9000, aqi: 165, temperature: null } : {}),
      })),
    )
    const fromMs = nowMs - 7 * 60 * minuteMs
    await api.register({ id: young, sites: [siteOf('Yaba', 6.5, 3.35, formatIso(fromMs))] })
    const its = Array.from({ length: 7 * 12 + 1 }, (_, at) => fromMs + at * 5 * minuteMs)
    await api.commit(its.map((timeMs) => ({ sensor: young, timeMs, area: 'Yaba' })))
    const kv = await new Kvm(api.nc).open(buckets.anchoring)
    const contract = `0x${'2'.repeat(40)}`
    const deployment = { chainId: 31_337, genesisHash: `0x${'1'.repeat(64)}`, contract, block: 5 }
    await kv.put(deploymentKey, JSON.stringify(deployment))
    await using browser = await cityBrowser(api)
    const { page, complaints, strangers } = await browser.open(`/sensors/${id}`)
    try {
      await page.getByRole('heading', { level: 1, name: '1 Ikeja Road' }).waitFor()
      const now = page.locator('.now')
      await now.waitFor()
      expect(await now.textContent()).toMatch(/165.*Unhealthy/)
      expect(await now.textContent()).toContain('not measured')
      expect(await now.textContent()).toContain('80.0 µg/m³')
      const time = now.locator('time').first()
      expect(await time.getAttribute('title')).toBe(
        `Lagos, UTC+1; ${formatIso(nowMs).slice(0, 19).replace('T', ' ')} UTC`,
      )
      // Lagos is an hour ahead of UTC all year
      const lagos = new Date(nowMs + 60 * minuteMs).toISOString().slice(11, 19)
      expect(await time.textContent()).toContain(lagos)
      await page.evaluate(
        'navigator.clipboard.writeText = async (text) => { window.copied = text }',
      )
      await page.getByRole('button', { name: 'Copy link to the proof' }).click()
      await expect
        .poll(() => page.evaluate('window.copied'))
        .toMatch(
          new RegExp(
            `^${browser.dashboard.url}/proof/${id}/${encodeURIComponent(formatIsoMs(nowMs))}[?]hash=0x[0-9a-f]{64}$`,
          ),
        )
      expect(await now.getByRole('link', { name: 'See the proof' }).getAttribute('href')).toMatch(
        new RegExp(`^/proof/${id}/.*[?]hash=0x[0-9a-f]{64}$`),
      )
      const code = page.getByRole('img', { name: 'QR code of this page' })
      // drawn, and not a broken picture
      await expect
        .poll(() => code.evaluate((image) => Reflect.get(image, 'naturalWidth')))
        .toBeGreaterThan(0)
      await expect.poll(() => page.locator('.charts .uplot canvas').count()).toBe(6)
      await page.getByRole('button', { name: '7 days' }).click()
      await page.getByText('Hourly averages').waitFor()
      expect(new URL(page.url()).searchParams.get('period')).toBe('7d')

      const rows = page.locator('.table tbody tr')
      expect(await rows.count()).toBe(25)
      await page.getByRole('button', { name: 'Load more' }).click()
      await expect.poll(() => rows.count()).toBe(50)
      expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
      const proof = rows.first().getByRole('link')
      expect(await proof.textContent()).toContain('waiting')
      const line = proof.evaluate(
        (link) => Reflect.get(globalThis, 'getComputedStyle')(link).textDecorationLine,
      )
      expect(await line).toBe('underline')
      await page.getByText('Local test chain, not public').waitFor()
      expect(await proof.getAttribute('href')).toMatch(
        new RegExp(
          `^/proof/${id}/${encodeURIComponent(formatIsoMs(nowMs))}\\?hash=0x[0-9a-f]{64}$`,
        ),
      )
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: /newest 1,000 as CSV/ }).click(),
      ])
      expect(
        readFileSync(await download.path(), 'utf8')
          .trim()
          .split(/\r?\n/),
      ).toHaveLength(51)
      expect(await now.textContent()).toContain('Uptime, 24 hours')
      // a sensor that is seven hours old: its numbers are of that time, and say so
      await page.goto(`${browser.dashboard.url}/sensors/${young}`)
      await now.waitFor()
      expect(await now.textContent()).toMatch(/Uptime, 7 h( \d+ min)? since it was set up100/)
      await page.getByText(/The data begins on \d{1,2} \w+ \d{4}/).waitFor()
      expect(complaints).toEqual([])
      expect(strangers).toEqual([])
      const unknown = await page.goto(`${browser.dashboard.url}/sensors/NGR-LOS-IKJ-999`)
      expect(unknown?.status()).toBe(404)
      await page.getByRole('heading', { name: 'There is no such sensor' }).waitFor()
      await page.getByText('NGR-LOS-IKJ-999').waitFor()
    } catch (error) {
      process.stdout.write(`${await pictureOf(page)}\n`)
      throw error
    }
  },
)
