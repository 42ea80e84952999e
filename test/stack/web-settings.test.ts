import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkKey } from '../../core/access/api-key.ts'
import { formatIso } from '../../core/iso-time.ts'
import { catalogue as enAccount } from '../../dashboard/texts/en/account.ts'
import { catalogue as enPublic } from '../../dashboard/texts/en/public.ts'
import { catalogue as frAccount } from '../../dashboard/texts/fr/account.ts'
import { catalogue as frPublic } from '../../dashboard/texts/fr/public.ts'
import { answerAccess } from '../../gate/answer-access.ts'
import { openCredentialBook } from '../../gate/credential-book.ts'
import { issueCredential, revokeCredential } from '../../operate/sensor-credentials.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { buckets, rejectedHeaders, rejectedSubject } from '../../schemas/subjects.ts'
import { siteOf } from '../support/api.ts'
import { lookEverywhere } from '../support/axe.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { loginAs } from '../support/nats.ts'
import { accountOf } from '../support/people.ts'
import { type SettingsBrowser, settingsBrowser, type Window } from '../support/settings-browser.ts'

import { anotherSession, type SignedIn, signedIn } from '../support/signed-in.ts'
import { withinOneDay } from '../support/within-one-day.ts'

const script = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
const sensor = 'NGR-LOS-IKJ-001'

/** Texts of one language that are not part of the other. */
const sentencesOf = (tree: object): readonly string[] =>
  Object.values(tree).flatMap((value: unknown) => {
    if (typeof value === 'string') return value.split(' ').length > 2 ? [value] : []
    return typeof value === 'object' && value !== null ? sentencesOf(value) : []
  })
const [english, french] = [
  sentencesOf({ ...enAccount, ...enPublic }),
  sentencesOf({ ...frAccount, ...frPublic }),
]
const wordsOnlyIn = {
  en: english.filter((text) => !french.some((other) => other.includes(text))),
  fr: french.filter((text) => !english.some((other) => other.includes(text))),
}

let browser: SettingsBrowser
let operator: SignedIn
let person: SignedIn
// a browser on a busy machine

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
      await page.getByText('No API keys yet').waitFor()
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
      // the next one, while the old one goes on for an hour
      await page.getByRole('button', { name: `Roll ${script}` }).click()
      await page.getByLabel('The old key goes on for').selectOption('an hour')
      await page.getByLabel('Valid for').selectOption('7 days')
      await page.getByRole('button', { name: 'Make the new key' }).click()
      await secret.waitFor()
      const next = (await secret.textContent()) ?? ''
      expect([checkKey('aqk_', next), next === key]).toEqual(['ok', false])
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByText('7\u00a0days left').waitFor()
      await page.getByText('less than a day left').waitFor()
      await eventually('both keys work', async () =>
        (await Promise.all([statusWith(key), statusWith(next)])).every((status) => status === 200),
      )
      await page.getByRole('button', { name: 'Revoke' }).last().click()
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
        // both are written within a second of the request, and the page asks for them once
        await eventually(
          'its requests are listed and counted',
          async () => {
            const log = (await ben.ask('GET', '/data/requests')).body
            const { keys = [] } = (await ben.ask('GET', '/data/usage-by-key')).body
            return JSON.stringify(log).includes('/v1/sensors') && keys.length > 0
          },
          // an account may look 30 times at once, then once per second
          { everyMs: 2_000 },
        )
        const { page, ...window } = await browser.open(ben)
        await window.goTo('/settings/usage')
        const { used, limit } = (await ben.ask('GET', '/data/v1/usage')).body
        expect(used).toBeGreaterThan(0)
        await page.getByText(`of ${limit.toLocaleString('en-US')} requests`).waitFor()
        expect(await page.getByRole('progressbar').getAttribute('value')).toBe(String(used))
        await page.getByText('As a table').click()
        const days = page.getByRole('table', { name: 'Requests of each day, UTC' })
        expect(await days.getByRole('row').count()).toBe(31)
        // what the key did is listed with its status
        const log = page.getByRole('table', { name: 'Last requests' })
        await log.getByRole('cell', { name: 'GET /v1/sensors' }).first().waitFor()
        await log.getByText('200', { exact: true }).first().waitFor()
        await page.getByRole('table', { name: 'Usage by key', exact: true }).waitFor()
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

    test('a session that ended is a question, and its answer leads back to the same page', async () => {
      const window = await browser.open(person)
      const { page, context } = window
      await window.goTo('/settings/keys')
      await context.clearCookies()
      await page.getByRole('link', { name: 'Usage' }).first().click()
      await page.getByRole('heading', { name: 'Your session has expired' }).waitFor()
      const back = page.getByRole('link', { name: 'Sign in again' })
      expect(await back.getAttribute('href')).toBe('/login?next=%2Fsettings%2Fusage')
      await expectOnlyText(window)
      await context.close()
    })

    test('the account page ends another session and shows what happened', async () => {
      const window = await browser.open(person)
      const { page } = window
      const token = await anotherSession(browser.dashboard, person.account, `phone ${script}`)
      const phone = browser.dashboard.browser()
      phone.cookies.set('__Host-session', token)
      expect(await accountOf(phone)).toBeDefined()
      await window.goTo('/settings/account')
      await page.getByText(person.account.email).waitFor()
      await page.getByText(`phone ${script}`).waitFor()
      await page.getByRole('button', { name: 'Sign out the device at 127.0.0.1' }).click()
      await page.locator('dialog').getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByText(`phone ${script}`).waitFor({ state: 'detached' })
      expect(await accountOf(phone)).toBeUndefined()
      await page.getByRole('button', { name: 'Refresh' }).click()
      await page.getByRole('cell', { name: 'Device signed out' }).first().waitFor()
      await expectOnlyText(window)
      await window.context.close()
    })

    async function refuse(nc: NatsConnection, reason: string, id: string): Promise<void> {
      const head = headers()
      head.set(rejectedHeaders.sensor, id)
      head.set(rejectedHeaders.why, script)
      head.set(rejectedHeaders.arrived, String(Date.now()))
      head.set(rejectedHeaders.length, String(Buffer.byteLength(script)))
      head.set(rejectedHeaders.sha256, 'ab'.repeat(32))
      await jetstream(nc).publish(rejectedSubject(reason, 3, 7, 0, id), script, {
        headers: head,
      })
    }

    test('an operator sees the stages, the refused, the sensors and the accounts, as text', async () => {
      await refuse(browser.dashboard.nc, 'not_json', sensor)
      const window = await browser.open(operator, { width: 360 })
      const { page } = window
      await window.goTo('/operator')
      await page.getByText('16 of 16 partitions have no worker').waitFor()
      await page.getByRole('link', { name: 'Sensors' }).click()
      await page.getByRole('cell', { name: script }).waitFor()
      await expectOnlyText(window)

      await page.getByRole('link', { name: 'Refused' }).click()
      await page.getByRole('button', { name: 'Show not_json.NGR-LOS-IKJ-001.3.7.0' }).click()
      await page.locator('dialog pre', { hasText: script }).waitFor()
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

    test('why a sensor is silent is on its page for operators, with what to do; others see what is no secret', async () => {
      const { api, dashboard } = browser
      const { nc } = dashboard
      const [revoked, replaced, refused] = ['NGR-LOS-YAB-011', 'NGR-LOS-YAB-012', 'NGR-LOS-YAB-013']
      const all = [revoked, replaced, refused] as const
      const nowMs = Math.floor(Date.now() / 1000) * 1000
      for (const id of all) await api.register({ id, sites: [siteOf('Yaba')] })
      // one of the area reports, so it is no outage
      await api.register({ id: 'NGR-LOS-YAB-014', sites: [siteOf('Yaba')] })
      await api.commit([
        ...all.map((id) => ({ sensor: id, timeMs: nowMs - 40 * 60_000, area: 'Yaba' })),
        { sensor: 'NGR-LOS-YAB-014', timeMs: nowMs, area: 'Yaba' },
      ])
      await api.snapshot()
      const kvm = new Kvm(nc)
      const credentials = await kvm.open(buckets.credentials)
      for (const id of all) await issueCredential(credentials, id, { nowMs: nowMs - 10 * 60_000 })
      await revokeCredential(credentials, revoked, nowMs)
      const seen = await kvm.open(buckets.seen)
      const client = 'firmware 7'
      const heard = {
        at: formatIso(nowMs - 41 * 60_000),
        protocol: 'mqtt',
        address: '10.1.2.3',
        client,
      }
      const wrong = { count: 3, at: formatIso(nowMs - 60_000), reason: 'wrong' }
      await seen.put(replaced, JSON.stringify({ heard, refused: wrong }))
      await refuse(nc, 'future', refused)
      await using opened = new AsyncDisposableStack()
      const settings = { natsUrl: api.nats.url, natsLogin: loginAs('gate') }
      const gate = await connectNats(settings, { name: 'gate', once: true })
      opened.defer(() => gate.close())
      const book = opened.use(await openCredentialBook(gate))
      opened.use(await answerAccess(gate, book))

      const window = await browser.open(operator, { width: 360 })
      const { page } = window
      const why = page.locator('dialog[open] [aria-labelledby=why-silent]')
      for (const [id, words, command] of [
        [revoked, /Its key was revoked. Make a new key below/, 'sensors key'],
        [
          replaced,
          /It was given a new key on .* still signs in with the old one.*10\.1\.2\.3.*firmware 7/s,
          'sensors key',
        ],
        [
          refused,
          /What it sent on .* was refused. Its time is more than five minutes after.*NTP/s,
          'sensors show',
        ],
      ] as const) {
        await window.goTo(`/sensors/${id}`)
        await page.getByRole('link', { name: 'Exact reason, and what to do' }).click()
        await why.waitFor()
        expect([id, await why.innerText()]).toEqual([id, expect.stringMatching(words)])
        expect(await why.locator('code').innerText()).toBe(`airproof ${command} ${id}`)
      }
      expect(
        Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')),
      ).toBeLessThanOrEqual(0)
      await why.getByRole('link', { name: 'See what was refused' }).click()
      await page.getByRole('button', { name: `Show future.${refused}` }).waitFor()
      await window.goTo('/operator?show=sensors')
      await page.getByRole('button', { name: `Why is ${revoked} silent?` }).click()
      await why.waitFor()
      await expectOnlyText(window)

      expect((await lookEverywhere(page)).faults).toEqual([])

      const other = await browser.open(person)
      for (const [id, words] of [
        [revoked, /The operator has ended this sensor’s access/],
        [replaced, /Something arrives under its name .* not accepted/],
        [refused, /Something arrives under its name .* not accepted/],
      ] as const) {
        await other.goTo(`/sensors/${id}`)
        const headline = other.page.locator('.headline')
        await expect.poll(() => headline.innerText()).toMatch(words)
        expect(await other.page.getByRole('link', { name: 'Exact reason' }).count()).toBe(0)
        const json = await (
          await fetch(`${dashboard.url}/now/sensors/${id}`, {
            headers: { accept: 'application/json' },
          })
        ).text()
        expect(json).not.toMatch(/10\.1\.2\.3|firmware|wrong|future|revoked/)
        const { status } = await person.ask('GET', `/operator/api/sensors/${id}/silence`)
        expect(status).toBe(403)
      }
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
      // what was typed is asked about, however the dialog is left
      await page.keyboard.press('Escape')
      await page.getByText('Discard what you typed?').waitFor()
      await page.getByRole('button', { name: 'Keep editing' }).click()
      const field = await page.getByLabel('Address', { exact: true }).boundingBox()
      if (field === null) throw new Error('the field is not on show')
      await page.mouse.move(field.x + 20, field.y + 10)
      await page.mouse.down()
      await page.mouse.move(5, 5)
      await page.mouse.up()
      expect(await page.getByText('Discard what you typed?').count()).toBe(0)
      await page.mouse.click(5, 5)
      await page.getByRole('button', { name: 'Keep editing' }).click()
      expect(await page.getByLabel('Address', { exact: true }).inputValue()).toBe(
        'Herbert Macaulay Way',
      )
      await page.getByRole('button', { name: 'Add it' }).click()
      const key = (await page.locator('.secret code').textContent()) ?? ''
      expect(checkKey('aqs_', key)).toBe('ok')
      await page.getByRole('button', { name: 'I have stored it' }).click()

      const manage = page.getByRole('button', { name: 'Manage NGR-LOS-YAB-044' })
      await manage.click()
      await page.locator('dialog summary', { hasText: 'Move it' }).click()
      await page.getByLabel('Area', { exact: true }).fill('Surulere')
      await page.getByRole('button', { name: 'Move it' }).click()
      await page.getByText('2\u00a0places so far').waitFor()
      await page.locator('dialog summary', { hasText: 'Retire it' }).click()
      await page.getByLabel('Yes, take it out of the network').check()
      await page.getByRole('button', { name: 'Retire it' }).click()
      await manage.waitFor({ state: 'detached' })

      await page.getByRole('button', { name: 'Import a list' }).click()
      const list = (rows: string) => ({
        name: 'sensors.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`id,area,lat,lon,address\n${rows}`),
      })
      await page.getByLabel('CSV file').setInputFiles(list('NGR-LOS-IMP-001,Yaba,north,3.3,x\n'))
      await page.getByText('line 2: “north” is not a latitude').waitFor()
      await page
        .getByLabel('CSV file')
        .setInputFiles(list(`NGR-LOS-IMP-001,Yaba,6.5,3.3,${script.replaceAll('"', '')}\n`))
      await page.getByText('1 new, 0 brought back').waitFor()
      await page.getByRole('button', { name: 'Import 1' }).click()
      await page.getByText('This is the only time they are shown').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('button', { name: 'Manage NGR-LOS-IMP-001' }).waitFor()
      await expectOnlyText({ page, ...window })
      await window.context.close()
    })

    test.each(['en', 'fr'] as const)(
      'no page is in another language than that which was chosen: %s',
      async (language) => {
        const window = await browser.open(operator, { language })
        const { page } = window
        for (const path of [
          '/settings/keys',
          '/settings/usage',
          '/settings/webhooks',
          '/settings/account',
          '/operator',
          '/operator?show=sensors',
          '/operator?show=rejected',
          '/operator?show=anchors',
          '/operator?show=accounts',
        ]) {
          await window.goTo(path)
          await eventually(
            'the page is loaded',
            async () => (await page.locator('.loading').count()) === 0,
          )
          const shown = await page.locator('body').innerText()
          const others = wordsOnlyIn[language === 'en' ? 'fr' : 'en']
          expect([path, others.filter((text) => shown.includes(text))]).toEqual([path, []])
        }
        expect(window.complaints).toEqual([])
        await window.context.close()
      },
    )
  },
)
