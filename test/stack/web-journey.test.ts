/**
 * A stranger's way through the whole of `airproof up`, in a real Chromium, with a real mail server
 * and a real receiver: each step continues where the previous one ended.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { chromiumMissing, openChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type RunningCity, runCity } from '../support/running-city.ts'
import { linkIn, type TestSmtp, testSmtp } from '../support/smtp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sh = promisify(execFile)
const email = 'ada.obi@example.org'
const password = 'a long walk along the lagoon'

// whole processes, a browser and a chain's blocks, on a machine with other work

const opened = new AsyncDisposableStack()
let folder = ''
let smtp: TestSmtp
let city: RunningCity
let receiver: Receiver
let browser: Browser
let page: Page
let key = ''

const airproof = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await sh(process.execPath, ['bin/airproof.mjs', ...args, '--data', folder])
  return stdout
}

/** @returns status of the answer to what a person types */
async function curl(path: string): Promise<number> {
  const { api } = city.instance
  const what = ['-s', '-o', join(folder, 'answer'), '-w', '%{http_code}']
  const { stdout } = await sh('curl', [...what, '-H', `Authorization: Bearer ${key}`, api + path])
  return Number(stdout)
}

describe.skipIf(chromiumMissing !== undefined)(
  `a stranger${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    beforeAll(async () => {
      folder = join(opened.use(temporaryFolder()).path, 'data')
      smtp = opened.use(await testSmtp())
      receiver = opened.use(await startReceiver())
      const env = {
        SMTP_URL: smtp.url,
        AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
        ANCHOR_INTERVAL: '5s',
      }
      city = opened.use(await runCity(folder, { flags: ['--demo', '12'], env }))
      browser = await openChromium()
      opened.defer(() => browser.close())
      page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
      page.setDefaultTimeout(120_000)
    })
    afterEach(async ({ task }) => {
      if (task.result?.state !== 'fail') return
      const file = join(mkdtempSync(join(inject('disk'), 'airproof-journey-')), 'page.png')
      await page.screenshot({ path: file, fullPage: true })
      process.stderr.write(`${task.name}: at ${page.url()}, seen in ${file}\n`)
    })
    afterAll(() => opened.disposeAsync())

    const go = async (path: string): Promise<void> => {
      await page.goto((city.instance.dashboard ?? '') + path)
      await page.locator('h1').first().waitFor({ state: 'attached' })
    }

    test('sees the city change as sensors publish, without an account', async () => {
      await go('/')
      const list = page.getByRole('list', { name: 'Sensors' })
      await eventually('all sensors are listed', async () => {
        return (await list.getByRole('listitem').count()) === 12
      })
      await page.getByText('Live', { exact: true }).waitFor()
      const numbers = (): Promise<string[]> => list.locator('.aqi').allInnerTexts()
      const before = (await numbers()).join()
      await eventually('the list changes', async () => (await numbers()).join() !== before)
      const map = page.locator('.map')
      await eventually(
        'the map shows sensors',
        async () => (await map.locator('canvas').count()) > 0,
      )
      let seen = await map.screenshot()
      await eventually('it has come to rest', async () => {
        const before = seen
        seen = await map.screenshot()
        return seen.equals(before)
      })
      await eventually('a reading changes it', async () => !(await map.screenshot()).equals(seen), {
        withinMs: 240_000,
        everyMs: 1_000,
      })
      expect(await list.getByRole('listitem').count()).toBe(12)
    })

    test('signs up, and confirms from the mail', async () => {
      await go('/signup')
      await page.getByLabel('Email address').fill(email)
      await page.getByRole('button', { name: 'Sign up' }).click()
      const link = linkIn(await smtp.mailTo(email))
      expect(link.startsWith(city.instance.dashboard ?? 'none')).toBe(true)
      await page.goto(link)
      await page.getByLabel('Full name').fill('Ada Obi')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('heading', { name: 'Email confirmed' }).waitFor()
      await go('/login')
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await eventually('the session begins', async () => {
        const cookies = await page.context().cookies()
        return cookies.some(({ name }) => name === '__Host-session')
      })
    })

    test('makes a key, and curls /v1 with it until the day is used up', async () => {
      await go('/settings/keys')
      await page.getByRole('button', { name: 'Generate new key' }).click()
      await page.getByLabel('Name').fill('my laptop')
      await page.getByRole('button', { name: 'Generate', exact: true }).click()
      key = (await page.locator('.secret code').textContent()) ?? ''
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await eventually('the key works', async () => (await curl('/v1/sensors?limit=1')) === 200)
      const statuses: number[] = []
      // a free day has a hundred requests; where midnight passes meanwhile there are as many again
      while (statuses.at(-1) !== 429 && statuses.length < 250)
        statuses.push(await curl('/v1/readings?limit=1'))
      expect(statuses.slice(0, -1).every((status) => status === 200)).toBe(true)
      expect(statuses.at(-1)).toBe(429)
      await smtp.mailTo(email, /100/)
      await go('/settings/usage')
      await page.getByText('100', { exact: false }).first().waitFor()
    })

    test('becomes premium, creates a webhook, and sees a delivery', async () => {
      await airproof('accounts', 'tier', email, 'premium')
      await go('/settings/webhooks')
      await eventually('the page knows of the tier', async () => {
        await page.reload()
        await page.locator('h1').first().waitFor()
        return await page.getByRole('button', { name: 'New webhook' }).isVisible()
      })
      await page.getByRole('button', { name: 'New webhook' }).click()
      await page.getByLabel('Address').fill(receiver.url)
      await page.getByLabel('reading.new').check()
      await page.getByRole('button', { name: 'Create' }).click()
      await page.locator('.secret code').waitFor()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await eventually('a delivery arrives', () =>
        receiver.received.some(({ json }) => json.event === 'reading.new'),
      )
      await page.getByLabel('Show', { exact: true }).selectOption('delivered')
      const row = page.getByRole('row', { name: 'reading.new' }).first()
      await eventually('the log shows it', async () => {
        if (await row.isVisible()) return true
        await page.reload()
        await page.getByLabel('Show', { exact: true }).selectOption('delivered')
        return undefined
      })
      await row.getByRole('link').click()
      await page.getByText('Request', { exact: true }).click()
      const request = page.locator('pre', { hasText: '"reading.new"' })
      await request.waitFor()
      expect(await request.textContent()).toContain('NGR-LOS-')
    })

    test('opens a reading’s proof and has it verified in the page', async () => {
      await go('/')
      await page.getByRole('list', { name: 'Sensors' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'Readings', exact: true }).waitFor()
      // the newest readings are on their way; where they are final, the page says so by itself
      await page
        .getByRole('link', { name: /proof of the reading/ })
        .last()
        .click()
      await page.getByRole('heading', { name: 'Proof of a reading' }).waitFor()
      // nobody has confirmed the block of this chain, which is for tests
      await page.locator('.proof-paper[data-verdict="consistent"]').waitFor({ timeout: 240_000 })
      expect(page.url()).toContain('/proof/NGR-LOS-')
    })

    test('signs out, and the proof is still there for anyone', async () => {
      const proof = page.url()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForLoadState()
      await page.goto(proof)
      await page.locator('.proof-paper[data-verdict="consistent"]').waitFor()
      await go('/settings/keys')
      await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
      expect(await page.getByText('my laptop').count()).toBe(0)
    })
  },
)
