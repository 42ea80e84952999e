/** The language of what the server writes, and of its emails; the same bar on every page. */
import { expect, test } from 'vitest'
import { findAccount, openAccountBook } from '../../operate/account-book.ts'
import { testDashboard } from '../support/dashboard.ts'
import { confirm, linkTo, newPerson, signIn, signUp } from '../support/people.ts'
import { testSmtp } from '../support/smtp.ts'

const langOf = (text: string): string | undefined => /<html lang="(\w+)"/.exec(text)?.[1]

test('a page is in the language that was chosen, else in that of the browser, else in English', async () => {
  await using dashboard = await testDashboard()
  const seen = async (headers: Record<string, string>, path = '/login') => {
    const { text } = await dashboard.browser(headers).get(path)
    return langOf(text)
  }
  expect(await seen({})).toBe('en')
  expect(await seen({ 'accept-language': 'fr-CI,fr;q=0.9,en;q=0.8' })).toBe('fr')
  expect(await seen({ 'accept-language': 'yo,ha;q=0.5' })).toBe('en')
  expect(await seen({ 'accept-language': 'fr;q=0.4,en-NG' })).toBe('en')

  const reader = dashboard.browser({ 'accept-language': 'en' })
  const chosen = await reader.get('/language/fr?next=%2Fforgot')
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/forgot'])
  const { text, headers } = await reader.get('/forgot')
  expect(text).toContain('Réinitialiser votre mot de passe')
  expect(headers.get('vary')).toMatch(/accept-language/)
  expect(headers.get('vary')).toMatch(/cookie/)
  // an unknown one in the cookie counts as none
  reader.cookies.set('lang', 'xx')
  expect(langOf((await reader.get('/forgot')).text)).toBe('en')
  expect((await reader.get('/language/xx')).status).toBe(404)
  const elsewhere = await reader.get('/language/en?next=https%3A%2F%2Fevil.example')
  expect(elsewhere.headers.get('location')).toBe('/')
})

test('emails are in the language of the page, and later in that of the account', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const email = 'awa@example.org'
  const browser = dashboard.browser({ 'accept-language': 'fr' })
  expect((await signUp(browser, { email })).text).toContain('Consultez vos e-mails')
  const mail = await smtp.mailTo(email)
  expect(mail.text).toContain('Ouvrez ce lien pour confirmer votre compte.')
  expect((await confirm(browser, await linkTo(smtp, email))).text).toContain('Adresse confirmée')
  const book = await openAccountBook(dashboard.nc)
  expect(await findAccount(book, email)).toMatchObject({ language: 'fr' })

  expect((await signIn(browser, { email })).status).toBe(303)
  // a link on another site changes the pages of this browser, and not the account
  await browser.get('/language/en', { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(await findAccount(book, email)).toMatchObject({ language: 'fr' })
  await browser.get('/language/en', { headers: { 'sec-fetch-site': 'same-origin' } })
  expect(await findAccount(book, email)).toMatchObject({ language: 'en' })
})

test('an account without a language gets its emails in English, and the language at its next sign-in', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const email = 'ada@example.org'
  await newPerson(dashboard, smtp, { email })
  const book = await openAccountBook(dashboard.nc)
  const { language: _, ...old } = (await findAccount(book, email)) ?? { language: '' }
  await book.accounts.put('id' in old ? old.id : '', JSON.stringify(old))
  const french = dashboard.browser({ 'accept-language': 'fr' })
  expect((await signIn(french, { email })).status).toBe(303)
  expect(await findAccount(book, email)).toMatchObject({ language: 'fr' })
})

test('a page of the server has the bar of the others: tabs, name and sign-out, also where it is an error', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({
    env: { SMTP_URL: smtp.url, AIRPROOF_CONTACT: 'help@example.org' },
  })
  const browser = await newPerson(dashboard, smtp, { email: 'ada@example.org' })
  for (const path of ['/account', '/nothing-here', '/about', '/account/password']) {
    const { text } = await browser.get(path)
    for (const href of ['/', '/proof', '/settings/keys', '/about', '/about/privacy'])
      expect([path, text]).toEqual([path, expect.stringContaining(`href="${href}"`)])
    expect(text).toContain('Ada Obi')
    expect(text).toContain('Sign out')
    expect(text).not.toContain('href="/signup"')
    expect(text).not.toContain('href="/operator"')
    expect(text).toContain('mailto:help@example.org')
    expect(text).toMatch(/href="[^"]+\/v1\/docs"/)
  }
  const stranger = await dashboard.browser().get('/nothing-here')
  expect(stranger.status).toBe(404)
  expect(stranger.text).toContain('Page not found')
  expect(stranger.text).toContain('href="/signup"')
})

test('the account names browsers and times as people do', async () => {
  await using smtp = await testSmtp()
  await using dashboard = await testDashboard({ env: { SMTP_URL: smtp.url } })
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const browser = await newPerson(
    dashboard,
    smtp,
    { email: 'ada@example.org' },
    { 'user-agent': agent },
  )
  const { text } = await browser.get('/account')
  expect(text).toContain('Firefox on Linux')
  expect(text).toMatch(/<time datetime="[^"]+">\d+ \w+ \d{4},? (?:at )?\d\d:\d\d UTC<\/time>/)
  expect(text.replaceAll(/(?:title|datetime)="[^"]*"/g, '')).not.toMatch(/Mozilla|\dT\d\d:/)
})

test('the page about privacy names the other server that the map asks, and no other', async () => {
  await using own = await testDashboard()
  expect((await own.browser().get('/about/privacy')).text).toContain(
    'Nothing is loaded from other sites.',
  )
  await using tiled = await testDashboard({
    env: {
      AIRPROOF_TILES_URL: 'https://tiles.example.org/{z}/{x}/{y}.png',
      AIRPROOF_MAP_ATTRIBUTION: 'them',
    },
  })
  for (const [language, words] of [
    ['en', 'which thereby sees your address'],
    ['fr', 'qui voit ainsi votre adresse'],
  ] as const) {
    const page = await tiled.browser({ 'accept-language': language }).get('/about/privacy')
    expect(page.text).toContain('<strong>tiles.example.org</strong>')
    expect(page.text).toContain(words)
  }
})
