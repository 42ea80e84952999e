/** Accounts and API keys: created, found and changed, for commands and for the dashboard. */
import { createHash, randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { apiKeyPrefix, keyRandomBytes, makeKey } from '../core/access/api-key.ts'
import { formatIso } from '../core/iso-time.ts'
import { isPlainName } from '../core/one-line.ts'
import { dayMs } from '../core/time.ts'
import { MustAct, TryAgain, WrongUsage } from '../runtime/exit.ts'
import { checkedEntry, jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { watchChecked } from '../runtime/nats/buckets/watched-bucket.ts'
import { changeEntry, unlessOvertaken } from '../runtime/nats/cas.ts'
import type { Account, KeyRecord } from '../schemas/people/account.ts'
import { buckets } from '../schemas/subjects.ts'

/** Days for which a key may be made: as long as the last unless its owner chooses. */
export const keyDays = [7, 30, 90] as const
export type KeyDays = (typeof keyDays)[number]
/** The first reminder of a key's end, which one that is made for less does not get. */
const firstReminderDays = 14
const hintLength = 8

export type AccountBook = {
  readonly nc: NatsConnection
  readonly accounts: KV
  readonly emails: KV
  readonly keys: KV
}

/** Rejects at once if the buckets do not exist yet. */
export async function openAccountBook(nc: NatsConnection): Promise<AccountBook> {
  const kvm = new Kvm(nc)
  const open = async (name: string): Promise<KV> => {
    const kv = await kvm.open(name)
    await kv.status()
    return kv
  }
  const [accounts, emails, keys] = await Promise.all([
    open(buckets.accounts),
    open(buckets.emails),
    open(buckets.keys),
  ])
  return { nc, accounts, emails, keys }
}

/**
 * One spelling per address, however it was typed: characters that look alike by design are unified
 * (NFKC), capitals become lower case, and the domain is as in DNS. Mail goes to this spelling,
 * never to the typed one. @throws WrongUsage if it is not an address
 */
export function normaliseEmail(text: string): string {
  const folded = text.trim().normalize('NFKC').toLowerCase().normalize('NFKC')
  const [, local = '', typedDomain = ''] = /^([^@]{1,64})@([^@]+)$/.exec(folded) ?? []
  const domain = domainToASCII(typedDomain)
  const isFit =
    /^[^\s\p{C}<>()[\]\\,;:"]+$/u.test(local) &&
    domain.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) &&
    local.length + domain.length < 254
  if (!isFit) throw new WrongUsage(`"${text}" is not an e-mail address`)
  return `${local}@${domain}`
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** @param email normalised */
export const emailKey = sha256

export type NewAccount = {
  readonly email: string
  readonly name: string
  readonly tier: Account['tier']
  readonly nowMs: number
  readonly organization?: string
  /** Of the emails to it. */
  readonly language?: string
  /** The account's owner has shown that the address is theirs. */
  readonly isConfirmed?: boolean
}

/**
 * The address is taken by creating its entry; a process that finds an entry without an account (its
 * creator was killed) creates that very account, so an address never has two.
 * @throws MustAct if the address has an account already  @throws WrongUsage
 */
export async function createAccount(
  { accounts, emails }: AccountBook,
  { name, tier, nowMs, organization, language, isConfirmed = false, ...rest }: NewAccount,
): Promise<Account> {
  const email = normaliseEmail(rest.email)
  const id = await takeAddress(emails, email, `acc_${randomBytes(10).toString('hex')}`)
  const at = formatIso(nowMs)
  const account: Account = {
    id,
    email,
    name,
    ...(organization === undefined ? {} : { organization }),
    ...(language === undefined ? {} : { language }),
    tier,
    role: 'user',
    created_at: at,
    ...(isConfirmed ? { confirmed_at: at } : {}),
  }
  if (await tryCreate(accounts, id, account)) return account
  throw new MustAct(`${email} has an account already: ${id}`)
}

/** @returns the id of the account that the address belongs to */
async function takeAddress(emails: KV, email: string, id: string): Promise<string> {
  if (await tryCreate(emails, emailKey(email), id)) return id
  const entry = await emails.get(emailKey(email))
  if (entry?.operation !== 'PUT') throw new TryAgain(`${email} is being removed: try again`)
  const owner = jsonOf(entry)
  if (typeof owner === 'string') return owner
  throw new MustAct(`the entry of ${email} in bucket emails cannot be read: \`airproof doctor\``)
}

const tryCreate = async (kv: KV, key: string, value: unknown): Promise<boolean> =>
  (await unlessOvertaken(kv.create(key, JSON.stringify(value)))) !== 'overtaken'

/** @param idOrEmail of the account @returns undefined if there is none */
export async function findAccount(
  { accounts, emails }: AccountBook,
  idOrEmail: string,
): Promise<Account | undefined> {
  if (!idOrEmail.includes('@')) return await valueOf<Account>(accounts, idOrEmail)
  const id = await valueOf<string>(emails, emailKey(normaliseEmail(idOrEmail)))
  return id === undefined ? undefined : await valueOf<Account>(accounts, id)
}

async function valueOf<T>(kv: KV, key: string): Promise<T | undefined> {
  if (!/^[\w=/-]+$/.test(key)) return undefined
  return checkedEntry<T>(await kv.get(key))
}

/** @throws MustAct */
export async function needAccount(book: AccountBook, idOrEmail: string): Promise<Account> {
  const account = await findAccount(book, idOrEmail)
  if (account === undefined)
    throw new MustAct(`there is no account ${idOrEmail}: \`airproof accounts list\` shows them`)
  return account
}

export const changeAccount = async (
  book: AccountBook,
  idOrEmail: string,
  change: Partial<Pick<Account, 'tier' | 'role' | 'language'>>,
): Promise<Account> =>
  await changeValue<Account>(book.accounts, (await needAccount(book, idOrEmail)).id, (account) => ({
    ...account,
    ...change,
  }))

async function changeValue<T>(kv: KV, key: string, change: (value: T) => T): Promise<T> {
  const missing = new MustAct(`${key} does not exist any more`)
  const changed = await changeEntry<T>(kv, key, (read) => {
    const value = checkedEntry<T>(read)
    if (value === undefined) throw missing
    return change(value)
  })
  if (changed === undefined) throw missing
  return changed
}

/**
 * Gives an account another address: the new one is taken before the old one is freed. Called again
 * after a crash, it completes the move.
 * @param from what the account's address must be  @param to both normalised
 * @returns false if the new address is another account's, the account's own is not `from`, or the
 * account was deleted
 */
export async function moveAddress(
  { accounts, emails }: AccountBook,
  id: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const holder = await takeAddress(emails, to, id)
  if (holder !== id) return false
  const moved = await unlessGone(
    changeValue<Account>(accounts, id, (account) =>
      account.email === from ? { ...account, email: to } : account,
    ),
  )
  // the address must not stay taken by an account that does not have it, or was deleted
  if (moved?.email !== to) {
    await emails.delete(emailKey(to))
    return false
  }
  const former = await emails.get(emailKey(from))
  if (former !== null && jsonOf(former) === id && from !== to)
    await emails.delete(emailKey(from), { previousSeq: former.revision })
  return true
}

async function unlessGone<T>(change: Promise<T>): Promise<T | undefined> {
  try {
    return await change
  } catch (error) {
    if (error instanceof MustAct) return undefined
    throw error
  }
}

/** Frees its address; the caller removes everything else that belongs to it. */
export async function removeAccount(
  { accounts, emails }: AccountBook,
  account: Account,
): Promise<void> {
  await accounts.delete(account.id)
  const lock = await emails.get(emailKey(account.email))
  if (lock?.operation === 'PUT' && jsonOf(lock) === account.id)
    await emails.delete(emailKey(account.email), { previousSeq: lock.revision })
}

/** Oldest first. */
export const listAccounts = async ({ nc }: AccountBook): Promise<Account[]> =>
  (await allOf<Account>(nc, buckets.accounts)).map(([, account]) => account).toSorted(byAge)

export const hashOfKey = sha256

export type MadeKey = { readonly key: string; readonly record: KeyRecord }

export type NewKey = {
  readonly account: string
  readonly name: string
  readonly nowMs: number
  readonly days?: KeyDays
}

const longestKeyName = 100
export const keyNameExpected = `a text of 1 to ${longestKeyName} visible characters on one line, none of which changes the direction of text`
export const isKeyName = (name: string): boolean =>
  name.length <= longestKeyName && isPlainName(name)

/** The key is only in the return value; its hash is stored. @throws WrongUsage */
export async function createKey(
  { keys }: AccountBook,
  { account, name, nowMs, days = 90 }: NewKey,
): Promise<MadeKey> {
  if (!isKeyName(name)) throw new WrongUsage(`the name of a key must be ${keyNameExpected}`)
  const key = makeKey(apiKeyPrefix, randomBytes(keyRandomBytes))
  const record: KeyRecord = {
    id: `key_${randomBytes(8).toString('hex')}`,
    account,
    name,
    hint: key.slice(0, hintLength),
    created_at: formatIso(nowMs),
    expires_at: formatIso(nowMs + days * dayMs),
    ...(days < firstReminderDays && { reminded_days: firstReminderDays }),
  }
  await keys.create(hashOfKey(key), JSON.stringify(record))
  return { key, record }
}

/** undefined: the key was never created here, or does not exist any more. */
export const findKey = ({ keys }: AccountBook, key: string): Promise<KeyRecord | undefined> =>
  valueOf<KeyRecord>(keys, hashOfKey(key))

/** Oldest first. @param account only its keys */
export async function listKeys({ nc }: AccountBook, account?: string): Promise<KeyRecord[]> {
  const all = await allOf<KeyRecord>(nc, buckets.keys)
  return all
    .map(([, record]) => record)
    .filter((record) => account === undefined || record.account === account)
    .toSorted(byAge)
}

/**
 * Invalid everywhere within a second; if it is revoked twice, the first time counts.
 * @param idOrKey the key's public id, which is searched among all keys, or the key itself
 * @throws MustAct
 */
export async function revokeKey(
  book: AccountBook,
  idOrKey: string,
  nowMs: number,
): Promise<KeyRecord> {
  const hash = hashOfKey(idOrKey)
  const all = await allOf<KeyRecord>(book.nc, buckets.keys)
  const [name] = all.find(([key, { id }]) => id === idOrKey || key === hash) ?? []
  if (name === undefined)
    throw new MustAct('there is no such key: `airproof keys list` shows the ids')
  return await revokeKeyOfHash(book, name, nowMs)
}

/** The same, if the key's hash is known. @throws MustAct */
export const revokeKeyOfHash = (
  { keys }: AccountBook,
  hash: string,
  nowMs: number,
): Promise<KeyRecord> =>
  changeValue<KeyRecord>(keys, hash, (record) => ({
    ...record,
    revoked_at: record.revoked_at ?? formatIso(nowMs),
  }))

/** It works until then, or until its own end if that is sooner; no reminder of that is sent. @throws MustAct */
export const endKeyOfHash = (
  { keys }: AccountBook,
  hash: string,
  atMs: number,
): Promise<KeyRecord> =>
  changeValue<KeyRecord>(keys, hash, (record) => ({
    ...record,
    expires_at: formatIso(Math.min(atMs, Date.parse(record.expires_at))),
    reminded_days: 0,
  }))

const byAge = (a: { created_at: string }, b: { created_at: string }): number =>
  a.created_at < b.created_at ? -1 : 1

async function allOf<T>(nc: NatsConnection, bucket: string): Promise<[string, T][]> {
  await using entries = await watchChecked<T>(nc, bucket)
  return [...entries.entries()]
}
