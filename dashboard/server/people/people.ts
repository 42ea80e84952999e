import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Context } from 'koa'
import { type AccountBook, emailKey } from '../../../operate/account-book.ts'
import { readPassword, writePassword } from '../../../operate/password-store.ts'
import { clientNetwork } from '../../../runtime/http/client-network.ts'
import { checkedEntry } from '../../../runtime/nats/buckets/read-entry.ts'
import type { MailQueue } from '../../../runtime/nats/mail-queue.ts'
import type { Account } from '../../../schemas/people/account.ts'
import type { WriteAudit } from '../account-api/audit.ts'
import { cookieLine, readCookie } from '../cookies.ts'
import type { PasswordWork } from '../password-work.ts'
import type { Sessions } from '../sessions.ts'
import type { Holdings } from './holdings.ts'
import type { KnownBrowsers } from './known-browser.ts'
import type { Limits } from './limits.ts'
import type { LinkTokens } from './link-tokens.ts'

/** What the pages for people work with. */
export type People = {
  readonly nc: NatsConnection
  readonly book: AccountBook
  /** Bucket `passwords`. */
  readonly passwords: KV
  readonly work: PasswordWork
  readonly sessions: Sessions
  readonly browsers: KnownBrowsers
  readonly links: LinkTokens
  readonly mails: MailQueue
  readonly audit: WriteAudit
  readonly holdings: Holdings
  readonly limits: Limits
  /** The beginning of links in mails: never taken from a request. */
  readonly publicUrl: string
  readonly proxies: number
  readonly nowMs: () => number
}

/** No account has this id: work for it costs the same and has no effect. */
export const nobody = 'acc_nobody'

export type Holder = { readonly id: string; readonly account: Account | undefined }

/**
 * The account of an address, with the same lookups whether there is one or not.
 * @param email normalised
 */
export async function holderOf({ book }: People, email: string): Promise<Holder> {
  const lock = await book.emails.get(emailKey(email))
  const id = checkedEntry<string>(lock) ?? nobody
  const entry = await book.accounts.get(id)
  const account = checkedEntry<Account>(entry)
  // an address that was given up has no account, though its entry may outlive a crash
  return account?.email === email ? { id, account } : { id: nobody, account: undefined }
}

/** An address and the revision of its account's password. */
type Proven = { readonly email: string; readonly revision: number }

/**
 * Gives the account another password and ends its sessions: before the write, so that a process
 * that is killed leaves no session with a password that has changed; and after it, for sessions
 * that began meanwhile. Other work begun with the former password finds another revision, and is
 * void.
 * @returns its revision, or undefined if another password was set meanwhile, which stays
 */
export async function setPassword(
  { passwords, sessions }: People,
  account: string,
  { phc, former }: { readonly phc: string; readonly former: number },
): Promise<number | undefined> {
  await sessions.endAll(account)
  const revision = await writePassword(passwords, account, phc, former)
  await sessions.endAll(account)
  return revision
}

/**
 * Signs the browser in under a new token; the one it had is void from now on.
 * @returns false if the account has another password now: no session is left then
 */
export async function signIn(
  people: People,
  ctx: Context,
  { id, ...proven }: Proven & { readonly id: string },
): Promise<boolean> {
  const { sessions, passwords, proxies } = people
  const former = readCookie(ctx.req, 'session')
  const old = former === undefined ? undefined : sessions.find(former)
  if (old !== undefined) await sessions.end(old.account.id, old.id)
  const visitor = { agent: ctx.get('user-agent'), address: clientNetwork(ctx.req, proxies) }
  const token = await sessions.start(id, visitor)
  // a password that is set after this look ends the session, which exists already
  const stored = await readPassword(passwords, id)
  if (stored?.revision !== proven.revision) {
    const begun = sessions.find(token)
    if (begun !== undefined) await sessions.end(id, begun.id)
    return false
  }
  setCookies(ctx, cookieLine('session', token), cookieLine('visit', undefined))
  setKnownBrowser(people, ctx, proven)
  return true
}

/** For a browser whose person has just proven the password, or access to the address's mails. */
export const setKnownBrowser = ({ browsers }: People, ctx: Context, proven: Proven): void =>
  ctx.append('set-cookie', browsers.line(ctx.req, proven))

export const signOut = (ctx: Context): void => setCookies(ctx, cookieLine('session', undefined))

/** Replaces the cookies that were about to be set. */
function setCookies(ctx: Context, ...lines: readonly string[]): void {
  ctx.set('set-cookie', [...lines])
}
