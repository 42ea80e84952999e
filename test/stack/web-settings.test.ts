import { jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkKey } from '../../core/access/api-key.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { rejectedHeaders, rejectedSubject } from '../../schemas/subjects.ts'
import { siteOf } from '../support/api.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import {
  axeFindings,
  type SettingsBrowser,
  settingsBrowser,
  type Window,
} from '../support/settings-browser.ts'
import { anotherSession, type SignedIn, signedIn } from '../support/signed-in.ts'
import { withinOneDay } from '../support/within-one-day.ts'

const script = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
const sensor = 'NGR-LOS-IKJ-001'

let browser: SettingsBrowser
let operator: SignedIn
let person: SignedIn
// a browser on a busy machine
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

describe.skipIf(chromiumMissing !== undefined)(
  `the pages of the settings and of the operator${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    beforeAll(async () => {
      browser = await settingsBrowser(newSecretKey())
      const { api, dashboard } = browser
      const site = { ...siteOf('Ikeja'), address: script }
      await api.register({ id: sensor, sites: [site] })
      await api.commit([{ sensor, timeMs: Math.floor(Date.now() / 1000) * 1000 }])
      await api.snapshot()
      operator = await signedIn(dashboard, { role: 'operator', tier: 'premium', name: script })
      person = await signedIn(dashboard)
    })
    afterAll(() => browser[Symbol.asyncDispose]())

    /** Others’ words were shown, and are words. */
    async function expectOnlyText({ page, complaints }: Window): Promise<void> {
      expect(await page.locator('img[src="x"]').count()).toBe(0)
      expect(await page.locator('main script').count()).toBe(0)
      expect(complaints).toEqual([])
    }

    async function statusWith(key: string): Promise<number> {
      const answer = await fetch(`${browser.api.url}/v1/sensors`, {
        headers: { authorization: `Bearer ${key}` },
      })
      await answer.text()
      return answer.status
    }

    test('a key is made, is still there after a slip, works as the snippet says, and is revoked', async () => {
      const window = await browser.open(person, { width: 360 })
      const { page } = window
      await window.goTo('/settings/keys')
      await page.getByText('No key yet').waitFor()
      await page.getByRole('button', { name: 'Generate new key' }).click()
      // no name yet: the form is not sent
      await page.getByRole('button', { name: 'Generate', exact: true }).click()
      await page.getByLabel('Name').fill(script)
      await page.keyboard.press('Enter')
      const secret = page.locator('.secret code')
      await secret.waitFor()
      const key = (await secret.textContent()) ?? ''
      expect(checkKey('aqk_', key)).toBe('ok')
      await page.getByRole('button', { name: 'Copy the key' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key)
      for (const language of ['curl', 'TypeScript', 'Python']) {
        await page.getByRole('button', { name: language }).click()
        const text = (await page.locator('dialog pre').textContent()) ?? ''
        expect(text).toContain(key)
        expect(text).toContain(`${browser.api.url}/v1/sensors`)
      }
      expect(await axeFindings(page)).toEqual([])
      // Escape is a slip, and no answer to "stored it"
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Show it again' }).click()
      expect(await secret.textContent()).toBe(key)
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await secret.waitFor({ state: 'detached' })
      expect(await page.content()).not.toContain(key)

      await eventually('the key works', async () => (await statusWith(key)) === 200)
      await page.reload()
      await page.getByRole('heading', { name: script }).waitFor()
      await page.getByText('90 days left').waitFor()
      await expectOnlyText(window)
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Revoke it' }).click()
      await page.getByText('revoked', { exact: true }).waitFor()
      await eventually('the key is dead', async () => (await statusWith(key)) === 401)
      await window.context.close()
    })

    test('usage shows what is used and what is left, in words and as a table', () =>
      withinOneDay(async () => {
        const ben = await signedIn(browser.dashboard)
        const { key } = (await ben.ask('POST', '/data/keys', { name: 'a' })).body
        await eventually('the key works', async () => (await statusWith(key)) === 200)
        const { page, ...window } = await browser.open(ben)
        await window.goTo('/settings/usage')
        const { used, limit } = (await ben.ask('GET', '/data/v1/usage')).body
        expect(used).toBeGreaterThan(0)
        await page.getByText(`of ${limit.toLocaleString('en-US')} requests`).waitFor()
        expect(await page.getByRole('progressbar').getAttribute('value')).toBe(String(used))
        await page.getByText('As a table').click()
        expect(await page.getByRole('table').getByRole('row').count()).toBe(31)
        await window.context.close()
      }))

    test('a free account reads what webhooks are and how to get them', async () => {
      const { page, ...window } = await browser.open(person)
      await window.goTo('/settings/webhooks')
      await page.getByText('Webhooks belong to premium accounts').waitFor()
      const contact = page.getByRole('link', { name: 'the operator of this network' })
      expect(await contact.getAttribute('href')).toBe('mailto:help@example.org')
      expect(await page.getByRole('button', { name: 'New webhook' }).count()).toBe(0)
      await window.context.close()
    })

    test('the account page ends another session and shows what happened', async () => {
      const window = await browser.open(person)
      const { page } = window
      const token = await anotherSession(browser.dashboard, person.account, `phone ${script}`)
      const phone = browser.dashboard.browser()
      phone.cookies.set('__Host-session', token)
      expect((await phone.get('/me')).status).toBe(200)
      await window.goTo('/settings/account')
      await page.getByText(person.account.email).waitFor()
      await page.getByText(`phone ${script}`).waitFor()
      await page.getByRole('button', { name: 'End the session from 127.0.0.1' }).click()
      await page.getByRole('button', { name: 'End', exact: true }).click()
      await page.getByText(`phone ${script}`).waitFor({ state: 'detached' })
      expect((await phone.get('/me')).status).toBe(401)
      await page.getByRole('button', { name: 'Look again' }).click()
      await page.getByRole('cell', { name: 'Session ended' }).first().waitFor()
      await expectOnlyText(window)
      await window.context.close()
    })

    async function refuse(nc: NatsConnection): Promise<void> {
      const head = headers()
      head.set(rejectedHeaders.sensor, sensor)
      head.set(rejectedHeaders.why, script)
      head.set(rejectedHeaders.arrived, String(Date.now()))
      head.set(rejectedHeaders.length, String(Buffer.byteLength(script)))
      head.set(rejectedHeaders.sha256, 'ab'.repeat(32))
      await jetstream(nc).publish(rejectedSubject('not_json', 3, 7, 0, sensor), script, {
        headers: head,
      })
    }

    test('an operator sees the stages, the refused, the sensors and the accounts, as text', async () => {
      await refuse(browser.dashboard.nc)
      const window = await browser.open(operator, { width: 360 })
      const { page } = window
      await window.goTo('/operator')
      await page.getByText('16 of 16 partitions have no worker').waitFor()
      await page.getByRole('link', { name: 'Sensors' }).click()
      await page.getByRole('cell', { name: script }).waitFor()
      await expectOnlyText(window)

      await page.getByRole('link', { name: 'Rejected' }).click()
      await page.getByRole('button', { name: 'Show not_json.NGR-LOS-IKJ-001.3.7.0' }).click()
      await page.locator('dialog pre', { hasText: script }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await expectOnlyText(window)
      await page.getByRole('button', { name: 'Send it again' }).click()
      await page.getByText('1 sent again').waitFor()
      await page.getByText('Nothing of this kind is kept.').waitFor()

      await page.getByRole('link', { name: 'Anchors' }).click()
      await page.getByText('No batch yet').waitFor()

      await page.getByRole('link', { name: 'Accounts' }).click()
      const row = page.getByRole('row', { name: person.account.email })
      await row.getByRole('button', { name: 'Make premium' }).click()
      await page.getByRole('button', { name: 'Make it premium' }).click()
      await row.getByRole('button', { name: 'Make free' }).waitFor()
      await expectOnlyText(window)
      // an account that is not an operator has neither the link nor the page
      const other = await browser.open(person)
      await other.goTo('/operator')
      await other.page.getByText('For operators').waitFor()
      expect(await other.page.getByRole('link', { name: 'Operator' }).count()).toBe(0)
      await Promise.all([window.context.close(), other.context.close()])
    })

    test('a sensor is added with every mistake named at its field, and removed', async () => {
      const { page, ...window } = await browser.open(operator)
      await window.goTo('/operator?show=sensors')
      await page.getByRole('button', { name: 'Add a sensor' }).click()
      await page.getByLabel('Latitude').fill('north')
      await page.getByRole('button', { name: 'Add it' }).click()
      await page.getByText('Must be a number from -90 to 90.').waitFor()
      expect(await page.getByLabel('Latitude').getAttribute('aria-invalid')).toBe('true')
      expect(await page.getByLabel('Seconds between').getAttribute('aria-invalid')).toBe('false')
      for (const [label, text] of [
        ['Id', 'NGR-LOS-YAB-044'],
        ['Area', 'Yaba'],
        ['Address', 'Herbert Macaulay Way'],
        ['Latitude', '6.5'],
        ['Longitude', '3.37'],
      ] as const)
        await page.getByLabel(label, { exact: true }).fill(text)
      await page.getByRole('button', { name: 'Add it' }).click()
      await page.getByRole('button', { name: 'Remove NGR-LOS-YAB-044' }).click()
      await page.getByRole('button', { name: 'Remove it' }).click()
      await page
        .getByRole('button', { name: 'Remove NGR-LOS-YAB-044' })
        .waitFor({ state: 'detached' })
      await window.context.close()
    })

    test.each([
      ['light', 360],
      ['dark', 1280],
    ] as const)(
      'axe finds nothing serious on any page, %s at %d px, and none is too wide',
      async (scheme, width) => {
        const window = await browser.open(operator, { scheme, width })
        for (const [path, sign] of [
          ['/settings/keys', 'No key yet'],
          ['/settings/usage', 'The last 30 days'],
          ['/settings/webhooks', 'No webhook yet'],
          ['/settings/account', 'Security events'],
          ['/operator', 'Sensors online'],
          ['/operator?show=sensors', sensor],
          ['/operator?show=rejected', 'Look again'],
          ['/operator?show=anchors', 'No batch yet'],
          ['/operator?show=accounts', person.account.email],
        ] as const) {
          await window.goTo(path)
          await window.page.getByText(sign).first().waitFor()
          expect([path, await axeFindings(window.page)]).toEqual([path, []])
          const overflow = await window.page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          expect([path, Math.max(0, Number(overflow))]).toEqual([path, 0])
        }
        expect(window.complaints).toEqual([])
        await window.context.close()
      },
    )
  },
)
