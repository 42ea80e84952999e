/** Bucket `passwords`: account → how its password is checked. */
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import { jsonOf } from '../runtime/nats/read-entry.ts'
import { buckets } from '../schemas/subjects.ts'
import { hashPassword, isPassword } from './password-hash.ts'

export type KeptPassword = {
  readonly phc: string
  /** Another one after every change. */
  readonly revision: number
}

export const openPasswords = (nc: NatsConnection): Promise<KV> =>
  new Kvm(nc).open(buckets.passwords)

/** @param account may be any text: what is no key has no password */
export async function readPassword(kv: KV, account: string): Promise<KeptPassword | undefined> {
  const entry = await kv.get(account)
  const phc = jsonOf(entry)
  if (entry === null || typeof phc !== 'string') return undefined
  return { phc, revision: entry.revision }
}

/** @returns its revision */
export const writePassword = (kv: KV, account: string, phc: string): Promise<number> =>
  kv.put(account, JSON.stringify(phc))

/** @returns its revision, or undefined if the account already has a password, which stays */
export async function writeFirstPassword(
  kv: KV,
  account: string,
  phc: string,
): Promise<number | undefined> {
  const revision = await unlessOvertaken(kv.create(account, JSON.stringify(phc)))
  return revision === 'overtaken' ? undefined : revision
}

/** For an account that is made by a command: its password is this one from now on. */
export async function ensurePassword(
  nc: NatsConnection,
  account: string,
  password: string,
): Promise<void> {
  const kv = await openPasswords(nc)
  const kept = await readPassword(kv, account)
  if (kept !== undefined && (await isPassword(password, kept.phc))) return
  await writePassword(kv, account, await hashPassword(password))
}
