/** An account belongs to its owner: no stranger can prepare it, or lock its owner out. */
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { hashOfToken, newToken } from '../../dashboard/server/cookies.ts'
import { listAccounts, openAccountBook } from '../../operate/account-book.ts'
import { hashPassword } from '../../operate/password-hash.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type Browser, type Page, type TestDashboard, testDashboard } from '../support/dashboard.ts'
import {
  accountOf,
  confirm,
  goodPassword,
  linkTo,
  newPerson,
  signIn,
  signUp,
} from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'

const email = 'ada@example.org'
const another = 'four other plain words'

test('a stranger who signs up with an address of another person knows nothing of the account', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const stranger = dashboard.browser()
  const page = await stranger.get('/signup')
  expect(page.text).not.toContain('type="password"')
  // as the form of 0.1 was sent
  const password = 'the password of a stranger'
  await stranger.submit('/signup', { email, password, name: 'Mallory', organization: 'Evil' })
  const link = await linkTo(smtp, email)
  const owner = dashboard.browser()
  expect((await owner.get(link)).text).not.toContain('Mallory')
  expect((await confirm(owner, link)).status).toBe(200)
  expect((await signIn(stranger, { email, password })).status).toBe(401)
  expect((await signIn(owner, { email })).status).toBe(303)
  expect(await accountOf(owner)).toMatchObject({ email, name: 'Ada Obi' })
})

test('a sign-up that waits since 0.1 leads to an account with the password of the mail’s reader', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const tokens = await new Kvm(dashboard.nc).open(buckets.tokens)
  const until = new Date(Date.now() + 3_600_000).toISOString()
  // argon2id of `the password of a stranger`, as 0.1 wrote it into both of its tokens
  const phc = await hashPassword('the password of a stranger')
  const written = { email, name: 'Mallory', organization: 'Evil', phc }
  const [link, again] = [newToken(), newToken()]
  const keep = (token: string, use: object) =>
    tokens.create(hashOfToken(token), JSON.stringify({ use, until }))
  await keep(link, { kind: 'confirm', ...written })
  await keep(again, { kind: 'signup', resent: 0, ...written })

  const browser = dashboard.browser()
  expect((await browser.submit('/signup', { email: 'other@example.org' })).status).toBe(200)
  const page = await browser.get('/forgot')
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({ csrf, signup: again })
  expect((await browser.get('/resend', { method: 'POST', body })).status).toBe(200)
  expect((await confirm(browser, await linkTo(smtp, email), { password: another })).status).toBe(
    200,
  )
  expect((await confirm(browser, `/confirm?token=${link}`)).status).toBe(410)
  expect((await signIn(browser, { email, password: 'the password of a stranger' })).status).toBe(
    401,
  )
  expect((await signIn(browser, { email, password: another })).status).toBe(303)
  expect(await accountOf(browser)).toMatchObject({ email, name: 'Ada Obi' })
})

test('an account of a stranger does not move to an address whose reader opens the link', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const stranger = await newPerson(dashboard, smtp, { email: 'mallory@example.org' })
  await stranger.submit('/account/email', { email, password: 'three plain words' })
  const link = await linkTo(smtp, email, /\/confirm-email\?/)
  const reader = dashboard.browser()
  const answered = await reader.submit(link, {})
  expect([answered.status, answered.headers.get('location')]).toEqual([303, '/login'])
  // nor to the account that the reader is signed in to
  const other = await newPerson(dashboard, smtp, { email: 'bola@example.org' })
  expect((await other.submit(link, {})).status).toBe(410)
  const accounts = await listAccounts(await openAccountBook(dashboard.nc))
  expect(accounts.map((account) => account.email)).toEqual([
    'mallory@example.org',
    'bola@example.org',
  ])
})

const networks = Array.from({ length: 50 }, (_, n) => `198.51.100.${n + 1}`)

/** Wrong passwords from 50 networks, until strangers are refused. @returns how many were judged */
async function guess(dashboard: TestDashboard): Promise<number> {
  let judged = 0
  for (let round = 0; round < 3; round++)
    await Promise.all(
      networks.map(async (network) => {
        const browser = dashboard.browser({ 'x-forwarded-for': network })
        const { status } = await signIn(browser, { email, password: `guess ${round}` })
        expect([401, 429]).toContain(status)
        if (status === 401) judged++
      }),
    )
  return judged
}

test('guesses from 50 networks keep the owner out neither of a known browser nor of a new one', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    env: { SMTP_URL: smtp.url, AIRPROOF_DASHBOARD_PROXIES: '1' },
  })
  const from = (address: string): Browser => dashboard.browser({ 'x-forwarded-for': address })
  const known = await newPerson(dashboard, smtp, { email }, { 'x-forwarded-for': '192.0.2.1' })
  known.cookies.delete('__Host-session')

  const judged = await guess(dashboard)
  // 100, and one for each minute that this took
  expect(judged).toBeGreaterThanOrEqual(95)
  expect(judged).toBeLessThan(110)
  const fresh = from('192.0.2.2')
  const refused = await signIn(fresh, { email })
  expect([refused.status, refused.text]).toEqual([
    429,
    expect.stringContaining('reset your password'),
  ])

  expect((await signIn(known, { email })).status).toBe(303)

  // mails that a stranger may cause do not use up the way back in
  const stranger = from('198.51.100.1')
  for (let n = 0; n < 6; n++) await signUp(stranger, { email })
  expect((await fresh.submit('/forgot', { email })).status).toBe(200)
  const link = await linkTo(smtp, email, /\/reset\?/)
  expect((await fresh.submit(link, { password: another })).status).toBe(200)
  expect((await signIn(fresh, { email, password: another })).status).toBe(303)

  // the new password made the other browser's mark void: it is a stranger again
  known.cookies.delete('__Host-session')
  expect((await signIn(known, { email, password: another })).status).toBe(429)
})

test('one link costs a few password hashes, however often it is sent at once', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  await newPerson(dashboard, smtp, { email })
  const browser = dashboard.browser()
  await browser.submit('/forgot', { email })
  const link = await linkTo(smtp, email, /\/reset\?/)
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get(link)).text)?.[1] ?? ''
  const token = new URLSearchParams(link.split('?')[1]).get('token') ?? ''
  const sent = await Promise.all(
    Array.from({ length: 40 }, () =>
      browser.get('/reset', {
        method: 'POST',
        body: new URLSearchParams({ csrf, token, password: another }),
      }),
    ),
  )
  const count = (wanted: number): number => sent.filter(({ status }) => status === wanted).length
  expect(count(200)).toBe(1)
  // those that came before the first one was through
  expect(count(429)).toBeGreaterThan(0)
  expect(count(200) + count(410) + count(429)).toBe(40)
})

test('a known browser has five tries, is known to its own address only, and its cookie cannot be made up', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const browser = await newPerson(dashboard, smtp, { email })
  const mark = browser.cookies.get('__Host-known') ?? ''
  expect(mark).not.toBe('')
  const tries = async (cookie: string, who: string): Promise<readonly number[]> => {
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) {
      const one = dashboard.browser()
      one.cookies.set('__Host-known', cookie)
      statuses.push((await signIn(one, { email: who, password: `guess ${n}` })).status)
    }
    return statuses
  }
  const five = [401, 401, 401, 401, 401, 429, 429]
  expect(await tries(mark, email)).toEqual(five)
  // as many as any browser of this network, and counted there
  expect(await tries(`${mark.slice(0, -4)}AAAA`, email)).toEqual(five)
  expect(await tries(mark, 'bola@example.org')).toEqual(five)
})

test('what strangers request does not stop a signed-in person from changing the address', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    env: { SMTP_URL: smtp.url, AIRPROOF_DASHBOARD_PROXIES: '1' },
  })
  const wanted = 'obi@example.org'
  const person = await newPerson(dashboard, smtp, { email })
  // as many as a stranger may cause to one address
  const stranger = dashboard.browser({ 'x-forwarded-for': '192.0.2.9' })
  for (let n = 0; n < 6; n++) await signUp(stranger, { email: wanted })

  await person.submit('/account/email', { email: wanted, password: goodPassword })
  const link = await linkTo(smtp, wanted, /\/confirm-email\?/)
  expect((await person.submit(link, {})).status).toBe(200)
  expect(await accountOf(person)).toMatchObject({ email: wanted })
  // to one address only this often: then the page shows it
  const again = []
  for (let n = 0; n < 6; n++) {
    const form = { email: 'third@example.org', password: goodPassword }
    again.push((await person.submit('/account/email', form)).status)
  }
  expect(again).toEqual([200, 200, 200, 200, 200, 429])
})

test('what was begun with the old password is void once a new one is set', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const thief = await newPerson(dashboard, smtp, { email })
  const owner = dashboard.browser()
  await owner.submit('/forgot', { email })
  const link = await linkTo(smtp, email, /\/reset\?/)
  // passwords are checked in turns, so all of these are under way when the new one is set
  const reset = await prepared(owner, link, { password: another })
  const change = await prepared(thief, '/account/password', {
    current: goodPassword,
    password: 'what the thief would like',
  })
  const browsers = Array.from({ length: 4 }, () => dashboard.browser())
  const signIns = await Promise.all(
    browsers.map((browser) => prepared(browser, '/login', { email, password: goodPassword })),
  )
  const [done] = await Promise.all([reset(), change(), ...signIns.map((send) => send())])
  expect(done.status).toBe(200)

  for (const browser of [thief, ...browsers]) expect(await accountOf(browser)).toBeUndefined()
  const fresh = dashboard.browser()
  expect((await signIn(fresh, { email, password: another })).status).toBe(303)
})

/** The form as its page asks for it, to be sent later. */
async function prepared(
  browser: Browser,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<() => Promise<Page>> {
  const { text } = await browser.get(path)
  const [token] = /(?<=name="token" value=")[^"]+/.exec(text) ?? []
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const body = new URLSearchParams({ ...fields, csrf, ...(token === undefined ? {} : { token }) })
  return () => browser.get(path.split('?')[0] ?? '', { method: 'POST', body })
}
