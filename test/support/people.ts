import { expect } from 'vitest'
import type { Browser, Page, TestDashboard } from './dashboard.ts'
import { linkIn, type TestSmtp } from './smtp.ts'

export const goodPassword = 'three plain words'

export type Person = {
  readonly email: string
  readonly password?: string
  readonly name?: string
}

export const signUp = (browser: Browser, { email }: Pick<Person, 'email'>): Promise<Page> =>
  browser.submit('/signup', { email })

/** The fields of the page that the link opens. */
export const confirm = (
  browser: Browser,
  link: string,
  { password = goodPassword, name = 'Ada Obi' }: Omit<Person, 'email'> = {},
): Promise<Page> => browser.submit(link, { password, name, organization: '' })

/** Path and query of the link in the newest matching mail. */
export async function linkTo(smtp: TestSmtp, email: string, fits?: RegExp): Promise<string> {
  const { pathname, search } = new URL(linkIn(await smtp.mailTo(email, fits)))
  return `${pathname}${search}`
}

export const signIn = (
  browser: Browser,
  { email, password = goodPassword }: Person,
): Promise<Page> => browser.submit('/login', { email, password })

/** Signs up, confirms from the mail, signs in. */
export async function newPerson(
  dashboard: TestDashboard,
  smtp: TestSmtp,
  person: Person,
  headers?: Readonly<Record<string, string>>,
): Promise<Browser> {
  const browser = dashboard.browser(headers)
  expect((await signUp(browser, person)).status).toBe(200)
  const link = await linkTo(smtp, person.email, /\/confirm\?/)
  expect((await confirm(browser, link, person)).status).toBe(200)
  expect((await signIn(browser, person)).status).toBe(303)
  return browser
}

export async function accountOf(
  browser: Browser,
): Promise<{ id: string; email: string; name: string } | undefined> {
  const { text } = await browser.get('/me')
  type Known = { id: string; email: string; name: string }
  return (JSON.parse(text) as { account: Known | null }).account ?? undefined
}
