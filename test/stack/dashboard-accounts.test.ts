/** People and their accounts, from the first page to the last, over a real mail server. */
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { secondMs } from '../../core/time.ts'
import { readDashboardConfig } from '../../dashboard/config.ts'
import { newToken } from '../../dashboard/server/cookies.ts'
import {
  createAccount,
  createKey,
  listAccounts,
  listKeys,
  moveAddress,
  openAccountBook,
  removeAccount,
} from '../../operate/account-book.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { buckets, laneSubject, requestsStream, requestsSubject } from '../../schemas/subjects.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import {
  accountOf,
  confirm,
  goodPassword,
  linkTo,
  newPerson,
  signIn,
  signUp,
} from '../support/people.ts'
import { type TestSmtp, testSmtp } from '../support/smtp.ts'

type Here = { readonly dashboard: TestDashboard; readonly smtp: TestSmtp }

async function withBoth(work: (here: Here) => Promise<void>, env = {}): Promise<void> {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url, ...env } })
  await work({ dashboard, smtp })
}

const accountsOf = async ({ nc }: TestDashboard) => await listAccounts(await openAccountBook(nc))

test.concurrent('a stranger signs up, confirms from the mail, signs in, and out again', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const browser = dashboard.browser()
    const email = 'ada@example.org'
    expect((await signUp(browser, { email })).text).toContain('Check your email')
    expect(await accountsOf(dashboard)).toEqual([])
    // not confirmed: as good as not there
    expect((await signIn(browser, { email })).status).toBe(401)
    const link = await linkTo(smtp, email)
    expect((await confirm(browser, link)).text).toContain('Email confirmed')
    expect((await accountsOf(dashboard)).map((one) => one.email)).toEqual([email])
    const entered = await signIn(browser, { email })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
    expect(entered.headers.getSetCookie()[0]).toMatch(
      /^__Host-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    )
    expect(await accountOf(browser)).toMatchObject({ email, name: 'Ada Obi' })
    expect((await browser.submit('/account', {})).status).toBe(405)
    const left = await browser.submit('/account/password', {}).then(() => browser.get('/me'))
    const { csrf } = JSON.parse(left.text) as { csrf: string }
    const out = await browser.get('/logout', {
      method: 'POST',
      body: new URLSearchParams({ csrf }),
    })
    expect(out.status).toBe(303)
    expect(await accountOf(browser)).toBeUndefined()
  }))

test.concurrent('two sign-ups at once with one address, in two spellings, make one account', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const spellings = ['Ada.Obi@Example.org', ' ada.obi@example.ORG ', 'ａda.obi@ｅxample.org']
    const sent = await Promise.all(spellings.map((email) => signUp(dashboard.browser(), { email })))
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    const links = await eventually('all three mails', () => {
      const found = smtp.mails.filter(({ to }) => to === 'ada.obi@example.org')
      return (
        found.length === 3 &&
        found.map(({ text }) => /\/confirm\?token=[\w-]{43}/.exec(text)?.[0] ?? '')
      )
    })
    const confirmed = await Promise.all(links.map((link) => confirm(dashboard.browser(), link)))
    expect(confirmed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410])
    expect((await accountsOf(dashboard)).map(({ email }) => email)).toEqual(['ada.obi@example.org'])
  }))

test.concurrent('a composed and a decomposed name before the @ are one address', () =>
  withBoth(async ({ dashboard, smtp }) => {
    await newPerson(dashboard, smtp, { email: 'zoë@example.org' })
    const decomposed = 'ZOE\u0308@example.org'
    expect((await signIn(dashboard.browser(), { email: decomposed })).status).toBe(303)
    await signUp(dashboard.browser(), { email: decomposed })
    await smtp.mailTo('zoë@example.org', /already has an account/)
    expect(await accountsOf(dashboard)).toHaveLength(1)
  }))

test.concurrent('a link is used only by its button, once, and not when it is a day old', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    await signUp(dashboard.browser(), { email })
    const link = await linkTo(smtp, email)
    // what a mail scanner does
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await dashboard.browser().get(link, { method })).status).toBe(200)
    expect(await accountsOf(dashboard)).toEqual([])
    // without a password no account is made, and the link stays good
    expect((await confirm(dashboard.browser(), link, { password: 'short' })).status).toBe(422)
    expect(await accountsOf(dashboard)).toEqual([])
    expect((await confirm(dashboard.browser(), link)).status).toBe(200)
    expect((await confirm(dashboard.browser(), link)).status).toBe(410)
    expect((await dashboard.browser().get(link)).status).toBe(410)

    await signUp(dashboard.browser(), { email: 'late@example.org' })
    const late = await linkTo(smtp, 'late@example.org')
    const tokens = await new Kvm(dashboard.nc).open(buckets.tokens)
    for await (const key of await tokens.keys()) {
      const kept = (await tokens.get(key))?.json<object>()
      await tokens.put(key, JSON.stringify({ ...kept, until: '2020-01-01T00:00:00Z' }))
    }
    expect((await confirm(dashboard.browser(), late)).status).toBe(410)
  }))

test.concurrent('a link that was cut or mangled is reported as incomplete, not as used', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
    const token = newToken()
    for (const path of ['/confirm', '/reset', '/confirm-email'])
      for (const [sent, status, words] of [
        [token.slice(0, 20), 400, 'This link is incomplete'],
        [`3D${token}`, 400, 'This link is incomplete'],
        ['', 400, 'This link is incomplete'],
        [token, 410, 'This link no longer works'],
      ] as const) {
        const page = await browser.get(`${path}?token=${sent}`)
        expect([path, sent, page.status, page.text]).toEqual([
          path,
          sent,
          status,
          expect.stringContaining(words),
        ])
      }
  }))

test.concurrent('the mail can be requested again, at most three times', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const browser = dashboard.browser()
    const sent = await signUp(browser, { email: 'ada@example.org' })
    const field = (name: string): string =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(sent.text)?.[1] ?? ''
    const resend = () =>
      browser.get('/resend', {
        method: 'POST',
        body: new URLSearchParams({ csrf: field('csrf'), signup: field('signup') }),
      })
    for (let n = 0; n < 3; n++) expect((await resend()).status).toBe(200)
    await eventually('four mails', () => smtp.mails.length === 4)
    const refused = await resend()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
  }))

test.concurrent('known and unknown addresses get the same pages', () =>
  withBoth(async ({ dashboard, smtp }) => {
    await newPerson(dashboard, smtp, { email: 'known@example.org' })
    const plain = (text: string): string =>
      text.replaceAll(/known@|other@/g, '@').replaceAll(/value="[^"]*"/g, '')
    for (const work of [
      (email: string) => signUp(dashboard.browser(), { email }),
      (email: string) => dashboard.browser().submit('/forgot', { email }),
      (email: string) => signIn(dashboard.browser(), { email, password: 'not the right one' }),
    ]) {
      const known = await work('known@example.org')
      const unknown = await work('other@example.org')
      expect([known.status, plain(known.text)]).toEqual([unknown.status, plain(unknown.text)])
    }
    await smtp.mailTo('known@example.org', /\/reset\?/)
    expect(
      smtp.mails.filter(({ to, text }) => to === 'other@example.org' && /reset/.test(text)),
    ).toEqual([])
  }))

test.concurrent('a forgotten password is set by mail: once, and all sessions end', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const before = await newPerson(dashboard, smtp, { email })
    const browser = dashboard.browser()
    await browser.submit('/forgot', { email })
    const link = await linkTo(smtp, email, /\/reset\?/)
    expect((await browser.submit(link, { password: 'short' })).status).toBe(422)
    const password = 'four other plain words'
    expect((await browser.submit(link, { password })).status).toBe(200)
    expect((await browser.submit(link, { password })).status).toBe(410)
    expect(await accountOf(before)).toBeUndefined()
    expect((await signIn(browser, { email })).status).toBe(401)
    expect((await signIn(browser, { email, password })).status).toBe(303)
    await smtp.mailTo(email, /password of your account was changed/)
  }))

test.concurrent('a changed password makes earlier reset links void, and ends the other sessions', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const browser = await newPerson(dashboard, smtp, { email })
    const other = dashboard.browser()
    await signIn(other, { email })
    await browser.submit('/forgot', { email })
    const link = await linkTo(smtp, email, /\/reset\?/)
    const before = browser.cookies.get('__Host-session')
    const wrong = await browser.submit('/account/password', {
      current: 'no',
      password: 'four other plain words',
    })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('not your password')])
    const done = await browser.submit('/account/password', {
      current: goodPassword,
      password: 'four other plain words',
    })
    expect(done.status).toBe(303)
    expect(browser.cookies.get('__Host-session')).not.toBe(before)
    expect(await accountOf(browser)).toMatchObject({ email })
    expect(await accountOf(other)).toBeUndefined()
    expect((await dashboard.browser().get(link)).status).toBe(410)
  }))

test.concurrent('a process that may write alerts cannot take the place of a notice to come', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const browser = await newPerson(dashboard, smtp, { email })
    const account = await accountOf(browser)
    const js = jetstream(dashboard.nc)
    const nowMs = Date.now()
    // the id as it was: the account and the second
    for (let second = 0; second < 60; second++) {
      const at = formatIso(nowMs + second * secondMs)
      const msgID = `password_changed.${account?.id}.${at}`
      await js.publish(laneSubject('alert'), 'x', { msgID })
    }
    const password = 'four other plain words'
    const done = await browser.submit('/account/password', { current: goodPassword, password })
    expect(done.status).toBe(303)
    expect((await smtp.mailTo(email, /was changed/)).to).toBe(email)
  }))

test.concurrent('another address counts once its own mailbox has confirmed it; the old one gets a notice and is free', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const browser = await newPerson(dashboard, smtp, { email: 'old@example.org' })
    const asked = await browser.submit('/account/email', {
      email: 'New@example.org',
      password: goodPassword,
    })
    expect(asked.status).toBe(200)
    expect(await accountOf(browser)).toMatchObject({ email: 'old@example.org' })
    const link = await linkTo(smtp, 'new@example.org', /\/confirm-email\?/)
    // opened elsewhere, it comes back to the link after sign-in
    const elsewhere = dashboard.browser()
    const login = (await elsewhere.get(link)).headers.get('location') ?? ''
    const entered = await elsewhere.submit(login, {
      email: 'old@example.org',
      password: goodPassword,
    })
    expect(entered.headers.get('location')).toBe(link)
    expect((await elsewhere.get(link)).status).toBe(200)
    expect((await browser.submit(link, {})).status).toBe(200)
    await smtp.mailTo('old@example.org', /address of your account is now new@example\.org/)
    await eventually(
      'it is seen',
      async () => (await accountOf(browser))?.email === 'new@example.org',
    )
    expect((await signIn(dashboard.browser(), { email: 'old@example.org' })).status).toBe(401)
    expect((await signIn(dashboard.browser(), { email: 'new@example.org' })).status).toBe(303)
    await signUp(dashboard.browser(), { email: 'old@example.org' })
    await eventually('the old address may sign up', () => {
      const found = smtp.mails.filter(
        ({ to, text }) => to === 'old@example.org' && /\/confirm\?/.test(text),
      )
      return found.length === 2
    })
    expect((await browser.submit(link, {})).status).toBe(410)
  }))

test.concurrent.each([
  ['help@example.org', 'mailto:help@example.org'],
  ['https://example.org/help', 'https://example.org/help'],
])('pages show how to reach the operator: %s', (contact, href) =>
  withBoth(
    async ({ dashboard, smtp }) => {
      const browser = await newPerson(dashboard, smtp, { email: 'old@example.org' })
      const { text } = await browser.get('/config.json')
      expect(JSON.parse(text)).toMatchObject({ contact: { href, text: contact } })
      const email = 'new@example.org'
      await browser.submit('/account/email', { email, password: goodPassword })
      await browser.submit(await linkTo(smtp, email, /\/confirm-email\?/), {})
      expect((await smtp.mailTo('old@example.org', /was not you, tell/)).text).toContain(contact)
    },
    { AIRPROOF_CONTACT: contact },
  ),
)

test.concurrent.each([
  'javascript:alert(1)',
  'http://example.org',
  'a@b.org?bcc=c@d.org',
  'nobody',
])('a contact %s is refused', (contact) =>
  expect(() =>
    readDashboardConfig({ env: { AIRPROOF_CONTACT: contact }, flags: {} }, '/nowhere'),
  ).toThrow('AIRPROOF_CONTACT must be'),
)

test.concurrent('the address of another account cannot be taken, and the page does not reveal whose it is', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
    await newPerson(dashboard, smtp, { email: 'bola@example.org' })
    const free = await browser.submit('/account/email', {
      email: 'free@example.org',
      password: goodPassword,
    })
    const taken = await browser.submit('/account/email', {
      email: 'bola@example.org',
      password: goodPassword,
    })
    expect(taken.text.replaceAll('bola@', 'free@')).toBe(free.text)
    await smtp.mailTo('bola@example.org', /already has an account/)
    expect(smtp.mails.filter(({ text }) => /confirm-email/.test(text)).map(({ to }) => to)).toEqual(
      ['free@example.org'],
    )
  }))

test.concurrent('all data of an account can be downloaded, and deleted; the address is then free', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const browser = await newPerson(dashboard, smtp, { email })
    const { id = '' } = (await accountOf(browser)) ?? {}
    const book = await openAccountBook(dashboard.nc)
    const { key, record } = await createKey(book, { account: id, name: 'mine', nowMs: Date.now() })
    const kvm = new Kvm(dashboard.nc)
    await (await kvm.open(buckets.quota)).put(
      `2026-01-01.${id}`,
      JSON.stringify({ used: 3, minute: 0, in_minute: 0 }),
    )
    await jetstream(dashboard.nc).publish(
      requestsSubject(id),
      JSON.stringify({ requests: [], left_out: 1 }),
    )
    const file = await browser.get('/account/export')
    expect(file.headers.get('content-disposition')).toContain('attachment')
    const all = JSON.parse(file.text) as Record<string, unknown>
    expect(all).toMatchObject({
      account: { id, email },
      keys: [{ id: record.id, name: 'mine' }],
      usage: [{ day: '2026-01-01', used: 3 }],
    })
    expect((all['security_events'] as { event: string }[]).map(({ event }) => event)).toEqual([
      'sign_in',
      'account_created',
    ])
    expect(file.text).not.toContain(key)
    expect(file.text).not.toContain('argon2')

    expect((await browser.submit('/account/delete', { password: 'wrong one' })).status).toBe(422)
    expect((await browser.submit('/account/delete', { password: goodPassword })).status).toBe(200)
    expect(await accountOf(browser)).toBeUndefined()
    expect(await accountsOf(dashboard)).toEqual([])
    for (const name of Object.values(buckets)) {
      const kv = await kvm.open(name)
      for await (const entry of await kv.keys()) {
        const text = (await kv.get(entry))?.string() ?? ''
        const isLeft = text.includes(id) || text.includes(email)
        expect([name, entry, isLeft]).toEqual([name, entry, false])
      }
    }
    expect(await lastMessage(dashboard.nc, requestsStream, requestsSubject(id))).toBeUndefined()
    expect((await signIn(dashboard.browser(), { email })).status).toBe(401)
    await signUp(dashboard.browser(), { email })
    await eventually(
      'a new confirmation',
      () => smtp.mails.filter(({ text }) => /\/confirm\?/.test(text)).length === 2,
    )
  }))

test.concurrent('an address that an account would have moved to is free once the account is deleted', () =>
  withBoth(async ({ dashboard }) => {
    const book = await openAccountBook(dashboard.nc)
    const [from, to] = ['old@example.org', 'new@example.org']
    const person = { name: 'Ada Obi', tier: 'free', nowMs: Date.now() } as const
    const account = await createAccount(book, { email: from, ...person })
    await removeAccount(book, account)
    expect(await moveAddress(book, account.id, { from, to })).toBe(false)
    const next = await createAccount(book, { email: to, ...person })
    expect(next.id).not.toBe(account.id)
  }))

test.concurrent('no key is left that was made while its account was deleted', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const browser = await newPerson(dashboard, smtp, { email })
    const { id = '' } = (await accountOf(browser)) ?? {}
    let isDeleted = false
    const statuses = new Set<number>()
    const make = async (): Promise<void> => {
      while (!isDeleted)
        statuses.add((await browser.ask('POST', '/data/keys', { name: 'x' })).status)
    }
    const making = [make(), make()]
    const deleted = await browser.submit('/account/delete', { password: goodPassword })
    isDeleted = true
    await Promise.all(making)
    expect(deleted.status).toBe(200)
    expect(statuses).toContain(201)
    const keys = await listKeys(await openAccountBook(dashboard.nc), id)
    expect(keys).toEqual([])
  }))

test.concurrent('sessions are listed and ended, here and elsewhere, within a second', () =>
  withBoth(async ({ dashboard, smtp }) => {
    const email = 'ada@example.org'
    const here = await newPerson(dashboard, smtp, { email }, { 'user-agent': 'here/1' })
    const there = dashboard.browser({ 'user-agent': 'there/1' })
    await signIn(there, { email })
    const listed = JSON.parse((await here.ask('GET', '/data/sessions')).text) as {
      sessions: { id: string; agent: string; is_current: boolean }[]
    }
    expect(listed.sessions.map(({ agent, is_current }) => [agent, is_current])).toEqual(
      expect.arrayContaining([
        ['here/1', true],
        ['there/1', false],
      ]),
    )
    expect((await here.get('/account')).text).toContain('there/1')
    const other = listed.sessions.find(({ is_current }) => !is_current)
    expect((await here.ask('DELETE', `/data/sessions/${other?.id}`)).status).toBe(200)
    expect(await accountOf(there)).toBeUndefined()
    expect((await here.ask('DELETE', '/data/sessions/ses_nobodys')).status).toBe(404)
    const events = JSON.parse((await here.ask('GET', '/audit-log')).text) as {
      events: { event: string }[]
    }
    expect(events.events.map(({ event }) => event)).toEqual([
      'session_ended',
      'sign_in',
      'sign_in',
      'account_created',
    ])
  }))
