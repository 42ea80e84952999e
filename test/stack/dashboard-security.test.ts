import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { expect, inject, test } from 'vitest'
import { type Browser, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { accountOf, confirm, goodPassword, newPerson, signIn, signUp } from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'

const script = `<script>alert(1)</script>"'\`><img src=x onerror=alert(2)>`

test('a browser’s former session is void after sign-in, whoever made it', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  const mallory = await newPerson(dashboard, smtp, { email: 'mallory@example.org' })
  for (const planted of ['A'.repeat(43), mallory.cookies.get('__Host-session') ?? '']) {
    const victim = dashboard.browser()
    victim.cookies.set('__Host-session', planted)
    const page = await victim.get('/forgot')
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const entered = await victim.get('/login', {
      method: 'POST',
      body: new URLSearchParams({ csrf, email: 'ada@example.org', password: goodPassword }),
    })
    expect(entered.status).toBe(303)
    expect(await accountOf(victim)).toMatchObject({ email: 'ada@example.org' })
    const attacker = dashboard.browser()
    attacker.cookies.set('__Host-session', planted)
    expect(await accountOf(attacker)).toBeUndefined()
  }
})

test('what another site sends in a person’s name is refused, and so is a form without its token', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  const { csrf } = JSON.parse((await browser.get('/me')).text) as { csrf: string }
  const stranger = /name="csrf" value="([^"]+)"/.exec(
    (await dashboard.browser().get('/login')).text,
  )?.[1]
  const post = (fields: Record<string, string>, headers: Record<string, string>) =>
    browser.get('/logout', { method: 'POST', headers, body: new URLSearchParams(fields) })
  const cases: readonly [Record<string, string>, Record<string, string>][] = [
    [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
    [{ csrf }, { 'sec-fetch-site': 'same-site' }],
    [{ csrf }, { origin: 'https://evil.example' }],
    [{ csrf }, { origin: 'null' }],
    [{}, { 'sec-fetch-site': 'same-origin' }],
    [{ csrf: stranger ?? '' }, { 'sec-fetch-site': 'same-origin' }],
    [{ csrf: `${csrf}x` }, { 'sec-fetch-site': 'same-origin' }],
  ]
  for (const [fields, headers] of cases) {
    const answer = await post(fields, headers)
    expect([headers, answer.status]).toEqual([headers, 403])
  }
  const json = await browser.get('/data/sessions', {
    method: 'DELETE',
    headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin' },
  })
  expect([json.status, JSON.parse(json.text)]).toMatchObject([
    403,
    { error: { code: 'stale_form' } },
  ])
  expect(await accountOf(browser)).toBeDefined()
  expect((await post({ csrf }, { 'sec-fetch-site': 'same-origin' })).status).toBe(303)
})

const tries = inject('soak') ? 10_000 : 1_000

test(`after ${tries} wrong passwords the process lives, and the right one from elsewhere lets in`, async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    env: { SMTP_URL: smtp.url, AIRPROOF_DASHBOARD_PROXIES: '1' },
  })
  const email = 'ada@example.org'
  await newPerson(dashboard, smtp, { email }, { 'x-forwarded-for': '192.0.2.1' })
  // the client's own entry is further left, and is ignored
  const attacker = dashboard.browser({ 'x-forwarded-for': '203.0.113.9, 198.51.100.7' })
  const page = await attacker.get('/login')
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const seen = new Map<number, number>()
  const tryOne = async (n: number): Promise<void> => {
    const { status } = await attacker.get('/login', {
      method: 'POST',
      body: new URLSearchParams({ csrf, email, password: `wrong number ${n}` }),
    })
    seen.set(status, (seen.get(status) ?? 0) + 1)
  }
  const work = Array.from({ length: 20 }, async (_, lane) => {
    for (let n = lane; n < tries; n += 20) await tryOne(n)
  })
  await Promise.all(work)
  // the bucket of tries leaks one a minute, however long that took
  expect([...seen.keys()].toSorted((a, b) => a - b)).toEqual([401, 429])
  expect(seen.get(401)).toBeLessThan(50)
  const throttled = await signIn(attacker, { email })
  expect([throttled.status, Number(throttled.headers.get('retry-after'))]).toEqual([
    429,
    expect.any(Number),
  ])
  const elsewhere = dashboard.browser({ 'x-forwarded-for': '192.0.2.55' })
  expect((await signIn(elsewhere, { email })).status).toBe(303)
  const log = JSON.parse((await elsewhere.ask('GET', '/audit-log')).text) as {
    events: { event: string }[]
  }
  const denied = log.events.filter(({ event }) => event === 'sign_in_failed')
  expect(denied.length).toBeGreaterThan(0)
  expect(denied.length).toBeLessThan(50)
})

test('script in whatever people type comes out as text, on pages and in mails', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const browser = dashboard.browser({ 'user-agent': script })
  const pages: string[] = []
  const keep = async (asked: ReturnType<Browser['get']>) => void pages.push((await asked).text)
  await keep(signUp(browser, { email: `${script}@example.org` }))
  await keep(browser.submit('/login', { email: script, password: script }))
  await keep(browser.get(`/login?next=${encodeURIComponent(script)}`))
  await keep(browser.get(`/${encodeURIComponent(script)}`))
  await keep(browser.get(`/confirm?token=${encodeURIComponent(script)}`))
  await signUp(browser, { email: 'ada@example.org' })
  const mail = await smtp.mailTo('ada@example.org')
  const [, html = ''] = mail.text.split('text/html')
  pages.push(html)
  const link = /\/confirm\?token=[\w-]{43}/.exec(mail.text)?.[0] ?? ''
  await keep(browser.get(link))
  await keep(confirm(browser, link, { name: script, password: 'short' }))
  await keep(confirm(browser, link, { name: script }))
  await signIn(browser, { email: 'ada@example.org' })
  await keep(browser.get('/account'))
  await keep(browser.get('/account/email'))
  for (const page of pages) expect(page).not.toMatch(/<script>|<img src=x/)
  expect(pages.filter((page) => page.includes('&lt;script&gt;')).length).toBeGreaterThan(4)
})

test('our pages run no script inside them, and connect nowhere else', async () => {
  await using dashboard = await testDashboard()
  const browser = dashboard.browser()
  for (const path of ['/', '/signup', '/login', '/forgot', '/nothing', '/me', '/base.css']) {
    const { headers, text } = await browser.get(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`script-src 'self';`)
    const [, style] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? []
    const hash = createHash('sha256').update(style ?? '')
    // one style, by its hash, inside the pages that begin with the answer
    expect(policy).toContain(
      path === '/' ? `style-src 'self' 'sha256-${hash.digest('base64')}';` : `style-src 'self';`,
    )
    expect(policy).toContain(`frame-ancestors 'none'`)
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('strict-transport-security')).toBeNull()
    expect(text).not.toMatch(/<script(?! type="module" src=)|\sstyle=|\son\w+=|javascript:/i)
  }
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\\b']) {
    const page = await browser.get(`/login?next=${encodeURIComponent(next)}`)
    expect(page.text).toContain('name="next" value="/"')
  }
  expect((await browser.get('/login?next=/settings/keys')).text).toContain('value="/settings/keys"')
})

test('behind TLS browsers must stay on TLS, and links begin with the configured address', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    env: { SMTP_URL: smtp.url, AIRPROOF_DASHBOARD_URL: 'https://air.example.org' },
  })
  const browser = dashboard.browser()
  expect((await browser.get('/login')).headers.get('strict-transport-security')).toMatch(
    /^max-age=\d+/,
  )
  const page = await browser.get('/signup')
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({
    csrf,
    email: 'ada@example.org',
  }).toString()
  const status = await new Promise((resolve, reject) => {
    const asked = request(
      `${dashboard.url}/signup`,
      {
        method: 'POST',
        headers: {
          host: 'evil.example',
          'x-forwarded-host': 'evil.example',
          cookie: `__Host-visit=${browser.cookies.get('__Host-visit')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
      },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode)),
    )
    asked.on('error', reject)
    asked.end(body)
  })
  expect(status).toBe(200)
  const { text } = await smtp.mailTo('ada@example.org')
  expect(text).toContain('https://air.example.org/confirm?token=')
  expect(text).not.toContain('evil.example')
})

test('a body that is too large, or not a form, is refused with a sentence', async () => {
  await using dashboard = await testDashboard()
  const browser = dashboard.browser()
  const post = (body: string, type: string) =>
    browser.get('/login', { method: 'POST', body, headers: { 'content-type': type } })
  const form = 'application/x-www-form-urlencoded'
  expect((await post(`email=${'x'.repeat(70_000)}`, form)).status).toBe(413)
  expect((await post('{', 'application/json')).status).toBe(400)
  expect((await post('hello', 'text/plain')).status).toBe(415)
  expect((await browser.get(`/${'x'.repeat(5_000)}`)).status).toBe(414)
  expect((await browser.get('/login', { headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(
    431,
  )
  expect((await browser.get('/login', { method: 'DELETE' })).headers.get('allow')).toBe(
    'GET, HEAD, POST',
  )
  expect((await browser.get('/%zz')).status).toBe(400)
})

test('without a session a person is sent to sign in, and back; an ordinary account is not an operator', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const stranger = await dashboard.browser().get('/account')
  expect([stranger.status, stranger.headers.get('location')]).toEqual([
    303,
    '/login?next=%2Faccount',
  ])
  expect((await dashboard.browser().get('/audit-log', { headers: { accept: '*/*' } })).status).toBe(
    401,
  )
  const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  const operators = await browser.get('/data/operator/status', {
    headers: { accept: 'application/json' },
  })
  expect([403, 404]).toContain(operators.status)
})

test('no password, token or cookie is ever logged', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  await browser.submit('/forgot', { email: 'ada@example.org' })
  const mail = await smtp.mailTo('ada@example.org', /\/reset\?/)
  const token = /token=([\w-]{43})/.exec(mail.text)?.[1] ?? ''
  const lines = await eventually('mails are logged', () => {
    const text = dashboard.logged.join('\n')
    return /mail sent/.test(text) && text
  })
  expect(token).not.toBe('')
  for (const secret of [token, goodPassword, ...browser.cookies.values()])
    expect(lines).not.toContain(secret)
})

test('while NATS is away pages that need it answer 503, and work again when it is back', async () => {
  await using dashboard = await testDashboard()
  const browser = dashboard.browser()
  await browser.get('/login')
  dashboard.nats.freeze()
  const answer = await signIn(browser, { email: 'ada@example.org' })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect((await browser.get('/')).status).toBe(200)
  dashboard.nats.thaw()
  await eventually('it answers again', async () => {
    const { status } = await signIn(browser, { email: 'bola@example.org' })
    return status === 401
  })
})
