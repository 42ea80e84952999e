/** A signed-in user, without the forms that lead there. */
import { openSessions } from '../../dashboard/server/sessions.ts'
import { changeAccount, createAccount, openAccountBook } from '../../operate/account-book.ts'
import type { Account } from '../../schemas/people/account.ts'
import type { Browser, TestDashboard } from './dashboard.ts'
import { eventually } from './eventually.ts'

export type SignedIn = {
  readonly account: Account
  /** Of the cookie `__Host-session`. */
  readonly token: string
  readonly browser: Browser
  /** A request as a script of our pages sends it; the parsed body. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    // oxlint-disable-next-line typescript/no-explicit-any -- any response; the test says what it should be
  ) => Promise<{ readonly status: number; readonly body: any }>
}

type Wishes = Partial<Pick<Account, 'email' | 'name' | 'tier' | 'role'>>

let made = 0

export async function signedIn(dashboard: TestDashboard, wishes: Wishes = {}): Promise<SignedIn> {
  const { email = `person-${++made}@example.org`, name = 'Ada Obi', tier = 'free', role } = wishes
  const { nc } = dashboard
  const book = await openAccountBook(nc)
  const { id } = await createAccount(book, { email, name, tier, nowMs: Date.now() })
  const account = await changeAccount(book, id, { role: role ?? 'user' })
  const token = await anotherSession(dashboard, account, 'a test')
  const browser = dashboard.browser()
  browser.cookies.set('__Host-session', token)
  await eventually('the dashboard knows the session and the role', async () => {
    browser.cookies.set('__Host-session', token)
    const me = await browser.get('/me')
    return JSON.parse(me.text).account?.role === account.role
  })
  return {
    account,
    token,
    browser,
    ask: async (method, path, body) => {
      const { status, text } = await browser.ask(method, path, body)
      return { status, body: JSON.parse(text) }
    },
  }
}

/** @returns its token @param agent the browser's user agent */
export async function anotherSession(
  { nc }: TestDashboard,
  account: Account,
  agent: string,
): Promise<string> {
  await using sessions = await openSessions({ nc, findAccount: () => account, nowMs: Date.now })
  return await sessions.start(account.id, { agent, address: '127.0.0.1' })
}
