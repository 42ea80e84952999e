/** Bucket `passwords`: account → how its password is checked. */
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { unlessOvertaken } from '../runtime/nats/cas.ts'
import { buckets } from '../schemas/subjects.ts'
import { hashPassword, isPassword } from './password-hash.ts'

export type KeptPassword = {
  readonly phc: string
  /** Another one after every change. */
  readonly revision: number
}

export const openPasswords = (nc: NatsConnection): Promise<KV> =>
  new Kvm(nc).open(buckets.passwords)

/** @param account may be any text: one that is not a valid key has no password */
export async function readPassword(kv: KV, account: string): Promise<KeptPassword | undefined> {
  const entry = await kv.get(account)
  const phc = jsonOf(entry)
  if (entry === null || typeof phc !== 'string') return undefined
  return { phc, revision: entry.revision }
}

/**
 * @param former revision of the password that it replaces; 0: there is none
 * @returns its revision, or undefined if another password was set meanwhile, which stays
 */
export async function writePassword(
  kv: KV,
  account: string,
  phc: string,
  former: number,
): Promise<number | undefined> {
  const value = JSON.stringify(phc)
  const write = former === 0 ? kv.create(account, value) : kv.update(account, value, former)
  const revision = await unlessOvertaken(write)
  return revision === 'overtaken' ? undefined : revision
}

/** For an account that a command created: its password is this one from now on. */
export async function ensurePassword(
  nc: NatsConnection,
  account: string,
  password: string,
): Promise<void> {
  const kv = await openPasswords(nc)
  const stored = await readPassword(kv, account)
  if (stored !== undefined && (await isPassword(password, stored.phc))) return
  await writePassword(kv, account, await hashPassword(password), stored?.revision ?? 0)
}
