/** The page of a proof in a real Chromium, over a real anchor and a real chain. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { type CityBrowser, cityBrowser, overflowOf, pictureOf } from '../support/city-browser.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const linkTo = (timeMs: number): string => `/proof/${sensor}/${formatIso(timeMs)}`
const link = linkTo(nowMs)
const sample = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/bundles/${name}.airproof.json`, import.meta.url))

const paper = (verdict: string): string => `.proof-paper[data-verdict=${verdict}]`

const bring = async (page: Page, buffer: Buffer, name = 'some.airproof.json'): Promise<void> =>
  page.setInputFiles('input[type=file]', { name, mimeType: 'application/json', buffer })

const pagesOf = (pdf: Buffer): number =>
  [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b/g)].length

const loadedFiles =
  'performance.getEntriesByType("resource").map(({ name }) => name.split("/").at(-1))'

/** With a picture where it fails. */
async function on(page: Page, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    process.stdout.write(`${await pictureOf(page)}\n`)
    throw error
  }
}

describe.skipIf(chromiumMissing !== undefined)(
  `the page of a proof${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let api: AnchoredApi
    let browser: CityBrowser
    beforeAll(async () => {
      api = opened.use(await anchoredApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000' } }))
      await api.register({ id: sensor })
      // no block is made until a test wants one: the reading waits
      api.anvil.freeze()
      opened.defer(() => api.anvil.thaw())
      await api.commit([{ sensor, timeMs: nowMs, pm25: null }])
      browser = opened.use(await cityBrowser(api))
    })
    afterAll(() => opened.disposeAsync())
    const anchored = async (): Promise<void> => {
      api.anvil.thaw()
      await api.anchored()
    }

    test.each([
      ['right', 0],
      ['a day slow', -dayMs],
      ['a day fast', dayMs],
    ])(
      'a reading that waits counts down by the server’s time, with a browser’s clock that is %s',
      async (_, wrongMs) => {
        const { page } = await browser.open('/proof')
        await on(page, async () => {
          await page.clock.install({ time: Date.now() + wrongMs })
          await page.goto(browser.dashboard.url + link)
          await page.locator(paper('waiting')).waitFor()
          // minutes and seconds, and neither a day more nor overdue
          await expect
            .poll(() => page.getByRole('timer').textContent())
            .toMatch(/^Expected in\d{1,2}:\d\d$/)
        })
      },
    )

    test('a reading that waits turns by itself into a certificate, which a node or a hash confirms', async () => {
      const { page, complaints, strangers } = await browser.open(link)
      await on(page, async () => {
        await page.locator(paper('waiting')).waitFor()
        await anchored()
        await page.locator(paper('consistent')).waitFor()
        await page.getByText('Consistent – block not confirmed yet').waitFor()
        await page.getByText('Local test chain, not public').waitFor()
        expect(await page.locator('.proof-path li[data-look=done]').count()).toBe(2)
        expect(await page.locator('.proof-path li[data-look=open]').count()).toBe(2)
        await page
          .getByText('Block 2 is real. Check its hash')
          .or(page.getByText(/^Block \d+ is real/))
          .first()
          .waitFor()
        expect(await page.getByText('not measured').count()).toBe(1)
        const code = page.getByRole('img', { name: 'QR code of the link to this proof' })
        await expect
          .poll(() => code.evaluate((image) => Reflect.get(image, 'naturalWidth')))
          .toBeGreaterThan(0)
        await page.evaluate(
          'navigator.clipboard.writeText = async (text) => { window.copied = text }',
        )
        await page.getByRole('button', { name: 'Copy link' }).click()
        const printed = await (
          await api.get(`/v1/readings/${sensor}/verify?timestamp=${formatIso(nowMs)}`)
        ).json()
        // the API's link, at the address of the dashboard
        const { proof_url: proofUrl } = printed as { proof_url: string }
        const { pathname, search } = new URL(proofUrl)
        await expect
          .poll(() => page.evaluate('window.copied'))
          .toBe(browser.dashboard.url + pathname + search)
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'Download proof' }).click(),
        ])
        expect(readFileSync(await download.path(), 'utf8')).toBe(
          await (await fetch(api.url + link)).text(),
        )

        const hash = page.getByLabel(/^Or compare the block’s hash/)
        await hash.fill('0x12')
        await page.getByText('A hash is 0x and 64 hexadecimal digits.').waitFor()
        await hash.fill(`0x${'12'.repeat(32)}`)
        await page.getByText('It is in another block than the one you named.').waitFor()
        expect(await page.locator('.proof-values').count()).toBe(0)
        await hash.fill('')
        await page.locator(paper('consistent')).waitFor()
        await page.getByText('Where it is anchored').first().click()
        await page.getByRole('button', { name: 'Copy: Block hash' }).first().click()
        await expect.poll(() => page.evaluate('window.copied')).toMatch(/^0x[0-9a-f]{64}$/)
        await hash.fill(String(await page.evaluate('window.copied')))
        await page.locator(paper('matches')).waitFor()
        // the operator of a test chain writes its blocks: no confirmation makes it green
        expect(await page.locator('.proof-paper').getAttribute('data-test-chain')).toBe('true')
        await hash.fill('')

        const node = page.getByLabel('Address of a public node of the chain')
        const askIt = page.getByRole('button', { name: 'Ask this node' })
        await node.fill('ftp://node.example')
        await askIt.click()
        await page.getByText('An address of a node begins with https://').waitFor()
        await node.fill('http://127.0.0.1:9')
        await askIt.click()
        await page.getByText(/127\.0\.0\.1:9 cannot be reached/).waitFor()
        await page.locator(paper('consistent')).waitFor()
        await node.fill(api.anvil.url)
        await askIt.click()
        await page.locator(paper('matches')).waitFor()
        await page
          .getByText(/^127[.]0[.]0[.]1:\d+ says that the block is part of the chain/)
          .waitFor()
        expect(await page.locator('.proof-path li[data-look=done]').count()).toBe(3)

        const { page: other } = await browser.open(`${link}?hash=0x${'34'.repeat(32)}`)
        await other.getByText('This link is for a different version of the reading').waitFor()
        expect(complaints).toEqual([])
        // nothing but the node that was named was asked
        expect(strangers.map((url) => new URL(url).origin)).toEqual(
          strangers
            .map((url) => new URL(url).origin)
            .filter((origin) =>
              [new URL(api.anvil.url).origin, 'http://127.0.0.1:9'].includes(origin),
            ),
        )
      })
    })

    test('a reading that waits shows its values, and leads to the newest one that is anchored', async () => {
      await anchored()
      api.anvil.freeze()
      const laterMs = nowMs + 60_000
      await api.commit([{ sensor, timeMs: laterMs, pm25: 3420, aqi: 98 }])
      const { page } = await browser.open(linkTo(laterMs), { width: 390 })
      await on(page, async () => {
        await page.locator(paper('waiting')).waitFor()
        expect(await page.locator('.proof-measured').textContent()).toMatch(/^PM2\.5 34\.2 µg\/m³/)
        await page.locator('.proof-values').getByText('34.2').waitFor()
        await page.getByRole('link', { name: 'See the newest anchored reading' }).click()
        await page.locator(paper('consistent')).waitFor()
        expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(
          `/proof/${sensor}/${new Date(nowMs).toISOString()}`,
        )
      })
      await anchored()
    })

    test.each([
      ['light', 1440, 'en', 'These values match the fingerprint that was anchored.'],
      ['dark', 390, 'en', 'These values match the fingerprint that was anchored.'],
      // the longer texts
      ['light', 1440, 'fr', 'Ces valeurs correspondent à l’empreinte qui a été ancrée.'],
    ] as const)(
      'a certificate is one A4 page of ink, %s, %i wide, %s',
      async (scheme, width, language, match) => {
        await anchored()
        const { page } = await browser.open(link, { width, scheme, language })
        await on(page, async () => {
          await page.locator(paper('consistent')).waitFor()
          expect(await overflowOf(page)).toBeLessThanOrEqual(0)
          // the first screen, 800 px high, has sensor and time, values, their verdict and the block's
          const first = ['.proof-top time', '.proof-measured', '.proof-match', '.proof-head h2']
          for (const name of first) {
            const box = await page.locator(name).boundingBox()
            expect((box?.y ?? 800) + (box?.height ?? 0)).toBeLessThan(800)
          }
          expect(await page.locator('.proof-measured').textContent()).toMatch(/^PM10 /)
          expect(await page.locator('.proof-match').textContent()).toBe(`✓ ${match}`)
          await page.locator('.proof-qr').waitFor()
          expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toBe(1)
          await page.emulateMedia({ media: 'print', colorScheme: scheme })
          for (const [name, isShown] of [
            ['.proof-paper', true],
            ['.proof-printed', true],
            ['.proof-qr', true],
            ['.top', false],
            ['.proof-drop', false],
            ['.proof-confirm', false],
            ['.proof-offline', false],
          ] as const)
            expect([name, await page.locator(name).isVisible()]).toEqual([name, isShown])
          // ink on paper, and the time for everyone
          expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)')
          expect(await page.locator('.proof-utc').first().textContent()).toMatch(/UTC$/)
          expect(await page.locator('.proof-printed .proof-whole').first().textContent()).toMatch(
            /^0x[0-9a-f]{64}$/,
          )
        })
      },
    )

    test('a file of another network is called that, and is given nothing of this one', async () => {
      const { page } = await browser.open('/proof', { width: 390 })
      await on(page, async () => {
        for (const name of ['v2-ed25519', 'in-a-city', 'v2-p256']) {
          await bring(page, sample(name), `${name}.json`)
          await page.getByText(`File: ${name}.json`).waitFor()
          await page.locator(paper('foreign')).waitFor()
          await page.getByText('Valid proof, but of another network').waitFor()
          // its sensor may have the name of one of ours
          expect(await page.locator('.proof-paper a').count()).toBe(0)
          expect(await page.getByRole('link', { name: 'Download proof' }).count()).toBe(0)
          expect(await page.getByLabel(/^Or compare/).count()).toBe(0)
          expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toBe(1)
        }
        expect(await overflowOf(page)).toBeLessThanOrEqual(0)
      })
    })

    test('a file that is not a proof is not valid, in a sentence', async () => {
      const { page, complaints } = await browser.open('/proof')
      const city = sample('in-a-city').toString()
      const files: readonly (readonly [name: string, buffer: Buffer, words: string])[] = [
        [
          'tampered',
          Buffer.from(city.replace('"pm10":3621', '"pm10":3622')),
          'The values in this file do not give its fingerprint',
        ],
        [
          'edited',
          Buffer.from(JSON.stringify(JSON.parse(city), undefined, 2)),
          'This file is not an airproof proof, or was edited.',
        ],
        [
          'newer',
          Buffer.from(city.replace('airproof.proof.v1', 'airproof.proof.v9')),
          'This proof is of a newer version than this page knows.',
        ],
        [
          'left out',
          sample('v2-left-out'),
          'The block does not hold the transaction that anchored the batch.',
        ],
        ['text', Buffer.from('هذه ليست شهادة'), 'it is not a JSON file'],
        ['utf-16', Buffer.from(city, 'utf16le'), 'it is not a JSON file'],
        [
          'other json',
          Buffer.from('{"readings":[]}\n'),
          'This file is not an airproof proof, or was edited.',
        ],
        [
          'network',
          Buffer.from('{"format":"airproof.network.v1"}\n'),
          'This file names a network.',
        ],
        ['deep', Buffer.from(`${'['.repeat(400_000)}`), 'it is not a JSON file'],
        ['empty', Buffer.from(''), 'it is not a JSON file'],
      ]
      await on(page, async () => {
        for (const [name, buffer, words] of files) {
          await bring(page, buffer, `${name}.json`)
          await page.getByText(`File: ${name}.json`).waitFor()
          const shown = page.locator(paper('invalid'))
          await expect.poll(() => shown.textContent()).toContain(words)
          expect(await shown.textContent()).toContain('Not valid')
          expect([
            name,
            await page.locator('.proof-values, .proof-share, .proof-confirm').count(),
          ]).toEqual([name, 0])
        }
        await bring(page, Buffer.alloc(5_000_000, '['), 'huge.json')
        await page.getByRole('alert').getByText('This file is too large for a proof.').waitFor()
        expect(complaints).toEqual([])
      })
    })

    test('a page that was visited once opens without a connection, and checks a file', async () => {
      await anchored()
      const own = Buffer.from(await (await fetch(api.url + link)).arrayBuffer())
      const { page } = await browser.open('/proof', { isOfflineKept: true })
      await on(page, async () => {
        const kept = `(async () => {
          const { active } = await navigator.serviceWorker.ready
          const names = await caches.keys()
          const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
          const paths = all.flat().map(({ url }) => new URL(url).pathname)
          const files = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
          const isThere = (path) => paths.includes(path)
          return active !== null && ['/proof', '/airproof-verify.js', '/.well-known/airproof.json',
            ...files.filter((path) => path.startsWith('/assets/'))].every(isThere)
        })()`
        await expect.poll(() => page.evaluate(kept)).toBe(true)
        await page.context().setOffline(true)
        await page.reload()
        await page.getByText('No connection to the server').waitFor()
        await bring(page, own)
        await page.locator(paper('consistent')).waitFor()
        await bring(page, sample('v2-ed25519'))
        await page.locator(paper('foreign')).waitFor()
        await bring(page, Buffer.from(own.toString().replace('"pm10":2000', '"pm10":2001')))
        await page.locator(paper('invalid')).waitFor()
      })
    })

    test('once it is loaded, a file is checked without a connection, against this network', async () => {
      await anchored()
      const own = Buffer.from(await (await fetch(api.url + link)).arrayBuffer())
      const { page } = await browser.open('/proof')
      await on(page, async () => {
        await expect.poll(() => page.evaluate(loadedFiles)).toContain('airproof.json')
        await page.context().setOffline(true)
        await bring(page, own)
        await page.locator(paper('consistent')).waitFor()
        await bring(page, sample('v2-ed25519'))
        await page.locator(paper('foreign')).waitFor()
        await bring(page, Buffer.from('no'))
        await page.locator(paper('invalid')).waitFor()
      })
    })
  },
)
