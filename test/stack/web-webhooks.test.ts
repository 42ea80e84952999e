import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumMissing } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import {
  offline,
  publishEvent,
  startNotifier,
  type TestNotifier,
  testKey,
} from '../support/notifier.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type SettingsBrowser, settingsBrowser, type Window } from '../support/settings-browser.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'

const script = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
const sensor = 'NGR-LOS-IKJ-001'

let browser: SettingsBrowser
let notifier: TestNotifier
let receiver: Receiver
let ada: SignedIn
let window: Window
// a browser on a busy machine

describe.skipIf(chromiumMissing !== undefined)(
  `the pages of the webhooks${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    beforeAll(async () => {
      browser = await settingsBrowser(testKey)
      const { api, dashboard } = browser
      notifier = await startNotifier(api.nats.url, dashboard.folder)
      receiver = await startReceiver()
      await api.register({ id: sensor })
      ada = await signedIn(dashboard, { tier: 'premium' })
      await eventually('the API knows the account', async () => {
        return (await ada.ask('GET', '/data/v1/webhooks')).status === 200
      })
      window = await browser.open(ada)
    })
    afterAll(async () => {
      await browser[Symbol.asyncDispose]()
      await notifier[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    })

    let id = ''

    test('a webhook is made: what is wrong stands at its field, the secret is shown once', async () => {
      const { page } = window
      await window.goTo('/settings/webhooks')
      await page.getByRole('button', { name: 'New webhook' }).click()
      await page.getByLabel('Address').fill('ftp://example.org')
      await page.getByLabel('Sensor', { exact: true }).fill('LOS-1')
      await page.getByLabel('AQI threshold').fill('many')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByText('Must be a number t with 0 ≤ t < 500.').waitFor()
      expect(await page.getByLabel('AQI threshold').getAttribute('aria-invalid')).toBe('true')
      await page.getByLabel('AQI threshold').fill('120')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByText('Must be the id of a sensor').waitFor()
      expect(await page.getByLabel('Address').getAttribute('aria-invalid')).toBe('true')

      await page.getByLabel('Address').fill(receiver.url)
      await page.getByLabel('Sensor', { exact: true }).fill(sensor)
      await page.getByLabel('Description').fill(`Hall ${script}`)
      await page.getByLabel('sensor.online').check()
      // of the time that there are events, which is not 30 days here
      await page.getByRole('button', { name: 'How often would it have fired?' }).click()
      await page.getByText(/^\d+\stimes? since \d{1,2} \w+ \d{4}, [\d:]+$/).waitFor()
      await page.getByRole('button', { name: 'Create' }).click()
      const secret = page.locator('.secret code')
      await secret.waitFor()
      expect(await secret.textContent()).toMatch(/^whsec_/)
      const { webhooks } = (await ada.ask('GET', '/data/v1/webhooks')).body
      expect(webhooks).toMatchObject([
        {
          url: receiver.url,
          description: `Hall ${script}`,
          events: ['aqi.high', 'sensor.offline', 'sensor.online'],
          filters: { sensor_id: sensor, aqi_threshold: 120 },
        },
      ])
      id = webhooks[0].id
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByRole('heading', { name: `Hall ${script}` }).waitFor()
      expect(await page.content()).not.toContain('whsec_')
    })

    test('a test says what came back, as text and nothing else', async () => {
      const { page } = window
      receiver.answer = (response) =>
        void response
          .writeHead(500, { 'x-note': '<b>bold</b>', 'content-type': 'text/html' })
          .end(script)
      await page.getByRole('link', { name: '← All webhooks' }).click()
      await page.getByRole('link', { name: `Send a test to Hall ${script}` }).click()
      await page.getByRole('button', { name: 'Send it' }).click()
      await page.getByText('HTTP 500').waitFor()
      await page.getByText('Response', { exact: true }).click()
      await page.locator('dialog pre', { hasText: script }).waitFor()
      await page.locator('dialog pre', { hasText: 'x-note: <b>bold</b>' }).waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      // a reload would not open it again
      await page.waitForURL(({ search }) => search === '')
      await page.getByRole('button', { name: 'Send a test' }).waitFor()
      expect(await page.locator('img[src="x"]').count()).toBe(0)
      expect(window.complaints).toEqual([])
    })

    test('a real delivery is seen with what was sent, and sent again with the same id', async () => {
      const { page } = window
      receiver.answer = (response) => void response.writeHead(200).end('thank you')
      const before = receiver.received.length
      await publishEvent(browser.dashboard.nc, { ...offline(sensor), address: script })
      await eventually('it is delivered', () => receiver.received.length > before)
      const sent = receiver.received.at(-1)
      await eventually('the log has it', async () => {
        const { body } = await ada.ask(
          'GET',
          `/data/v1/webhooks/${id}/deliveries?outcome=delivered`,
        )
        return body.count > 0
      })
      await page.getByLabel('Show', { exact: true }).selectOption('delivered')
      await page.getByRole('row', { name: 'sensor.offline' }).getByRole('link').click()
      await page.getByText(sent?.id ?? 'none', { exact: true }).waitFor()
      await page.getByText('Request', { exact: true }).click()
      await page.locator('pre', { hasText: 'onerror' }).waitFor()
      expect(await page.locator('img[src="x"]').count()).toBe(0)

      await page.getByRole('button', { name: 'Send it again' }).click()
      await eventually('it came again', () => receiver.received.length === before + 2)
      expect(receiver.received.at(-1)?.id).toBe(sent?.id)
      expect(receiver.received.at(-1)?.body).toEqual(sent?.body)
      await page.getByRole('link', { name: 'The webhook' }).click()
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    })

    test('attempts are found by id and day, and those that failed are sent again', async () => {
      const { page } = window
      receiver.answer = (response) => void response.writeHead(503).end()
      const before = receiver.received.length
      await publishEvent(browser.dashboard.nc, offline(sensor))
      await eventually('it was tried', () => receiver.received.length > before)
      const failed = receiver.received.at(-1)?.id ?? ''
      await eventually('the log has it', async () => {
        const path = `/data/v1/webhooks/${id}/deliveries?outcome=retry&delivery=${failed}`
        return (await ada.ask('GET', path)).body.count > 0
      })
      await page.getByLabel('Show', { exact: true }).selectOption('failed, will retry')
      await page.getByLabel('Delivery id').fill(failed)
      const row = page.getByRole('row', { name: 'sensor.offline' })
      const isAlone = async (): Promise<boolean> => (await row.count()) === 1
      await eventually('only it is listed', isAlone)
      await page.getByLabel('To day').fill('2001-01-01')
      await page.getByText('None of this kind.').waitFor()
      await page.getByLabel('To day').fill('')
      await eventually('it is listed again', isAlone)

      receiver.answer = (response) => void response.writeHead(200).end()
      await page.getByRole('button', { name: 'Send it again' }).click()
      await eventually('it is delivered', async () => {
        const path = `/data/v1/webhooks/${id}/deliveries?outcome=delivered&delivery=${failed}`
        return (await ada.ask('GET', path)).body.count > 0
      })
      expect(receiver.received.filter((post) => post.id === failed).length).toBeGreaterThan(1)
      await page.getByLabel('Delivery id').fill('')
    })

    test('it is paused and resumed, changed, given a new secret, recovered and deleted', async () => {
      const { page } = window
      const recordOf = async () => (await ada.ask('GET', `/data/v1/webhooks/${id}`)).body.webhook
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('paused', { exact: true }).waitFor()
      expect((await recordOf()).paused).toBe(true)
      await page.getByRole('button', { name: 'Resume' }).click()
      await page
        .getByText(/^(delivering|some attempts fail|failing)$/)
        .first()
        .waitFor()

      await page.getByRole('button', { name: 'Change' }).click()
      await page.getByLabel('Sensor', { exact: true }).fill('')
      await page.getByLabel('AQI threshold').fill('99.5')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('threshold 99.5').waitFor()
      expect((await recordOf()).filters).toEqual({ aqi_threshold: 99.5 })

      await page.getByRole('button', { name: 'New secret' }).click()
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      await page.locator('.secret code').waitFor()
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByText('signs too until').waitFor()

      const before = receiver.received.length
      await page.getByRole('button', { name: 'Replay events' }).click()
      await page.getByLabel('Since (your time)').fill('2020-01-01T00:00')
      await page.getByRole('button', { name: 'Send again', exact: true }).click()
      await eventually('what happened came again', () => receiver.received.length > before)

      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete it' }).click()
      await page.getByText('No webhook yet').waitFor()
      expect((await ada.ask('GET', `/data/v1/webhooks/${id}`)).status).toBe(404)
      expect(window.complaints).toEqual([])
    })
  },
)
