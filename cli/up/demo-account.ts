/**
 * The account and the key that `up` shows: the same at every start. `demo.json` in the data folder
 * is the only place where the key and the password outlast a stop.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { dayMs } from '../../core/time.ts'
import {
  type AccountBook,
  changeAccount,
  createAccount,
  createKey,
  findAccount,
  findKey,
  openAccountBook,
} from '../../operate/account-book.ts'
import { ensurePassword } from '../../operate/password-store.ts'
import { codeOf } from '../../runtime/exit.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import type { Account } from '../../schemas/people/account.ts'

export type DemoAccount = {
  readonly account: { readonly email: string; readonly password: string }
  readonly key: string
}

const email = 'demo@airproof.example'
const renewWithinMs = 7 * dayMs

/**
 * Finds or makes a premium account and a key that lasts a week at least. The buckets must exist
 * (`ensureStreams`).
 * @param folder the data folder, which must exist
 */
export async function ensureDemoAccount(
  nc: NatsConnection,
  folder: string,
  nowMs = Date.now(),
): Promise<DemoAccount> {
  const book = await openAccountBook(nc)
  const file = join(folder, 'demo.json')
  const former = readKept(file)
  const account = await ensureAccount(book, nowMs)
  const demo = {
    account: { email, password: former?.account.password ?? randomBytes(15).toString('base64url') },
    key: await ensureKey(book, account, former?.key, nowMs),
  }
  await ensurePassword(nc, account.id, demo.account.password)
  if (JSON.stringify(former) !== JSON.stringify(demo))
    writePrivateFile(file, `${JSON.stringify(demo, null, 2)}\n`)
  return demo
}

async function ensureAccount(book: AccountBook, nowMs: number): Promise<Account> {
  const account = await findAccount(book, email)
  if (account?.tier === 'premium') return account
  if (account !== undefined) return await changeAccount(book, email, { tier: 'premium' })
  return await createAccount(book, { email, name: 'Demonstration', tier: 'premium', nowMs })
}

async function ensureKey(
  book: AccountBook,
  account: Account,
  kept: string | undefined,
  nowMs: number,
): Promise<string> {
  const record = kept === undefined ? undefined : await findKey(book, kept)
  const isGood =
    record !== undefined &&
    record.account === account.id &&
    record.revoked_at === undefined &&
    Date.parse(record.expires_at) - nowMs >= renewWithinMs
  if (kept !== undefined && isGood) return kept
  return (await createKey(book, { account: account.id, name: 'Demonstration', nowMs })).key
}

/** undefined: there is none yet, or it is not what we wrote; it is then written again. */
function readKept(file: string): DemoAccount | undefined {
  try {
    const demo: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isDemoAccount(demo)
      ? { account: { email, password: demo.account.password }, key: demo.key }
      : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

const isDemoAccount = (value: unknown): value is DemoAccount =>
  typeof value === 'object' &&
  value !== null &&
  'key' in value &&
  typeof value.key === 'string' &&
  'account' in value &&
  typeof value.account === 'object' &&
  value.account !== null &&
  'password' in value.account &&
  typeof value.account.password === 'string'
