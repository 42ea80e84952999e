/** The secrets that sensors sign in with: created, replaced and revoked. */

import { createHash, randomBytes } from 'node:crypto'
import type { KV } from '@nats-io/kv'
import { keyRandomBytes, makeKey, sensorKeyPrefix } from '../core/access/api-key.ts'
import { formatIso } from '../core/iso-time.ts'
import { MustAct, TryAgain } from '../runtime/exit.ts'
import { checkedEntry } from '../runtime/nats/buckets/read-entry.ts'
import { changeEntry } from '../runtime/nats/cas.ts'
import type { Credential } from '../schemas/devices/credential.ts'

/**
 * A secret is 30 random base62 characters, 178 bits: it cannot be guessed, however fast the hash
 * is, so a slow hash would only make each sign-in expensive.
 */
export const hashOfSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex')

export const newSecret = (): string => makeKey(sensorKeyPrefix, randomBytes(keyRandomBytes))

export type IssueOptions = {
  readonly nowMs: number
  /** How long the previous secret stays valid; 0: not at all. */
  readonly overlapMs?: number
}

/**
 * Gives an id a new secret, whether or not it had one. Durable when resolved; the secret is only in
 * the return value.
 * @param kv bucket `credentials`
 */
export async function issueCredential(
  kv: KV,
  id: string,
  { nowMs, overlapMs = 0 }: IssueOptions,
): Promise<string> {
  const secret = newSecret()
  await changeCredential(kv, id, (before) => {
    const isGood = before !== undefined && before.revoked_at === undefined
    return {
      hash: hashOfSecret(secret),
      created_at: formatIso(nowMs),
      ...(isGood && overlapMs > 0
        ? { previous: { hash: before.hash, until: formatIso(nowMs + overlapMs) } }
        : {}),
    }
  })
  return secret
}

/**
 * The same for a program that makes secrets by itself: what a person has revoked stays revoked.
 * Any previous secret ends at once. @returns undefined: it is revoked, and nothing has changed
 */
export async function issueUnlessRevoked(
  kv: KV,
  id: string,
  nowMs: number,
): Promise<string | undefined> {
  const secret = newSecret()
  const issued = await changeCredential(kv, id, (before) =>
    before?.revoked_at === undefined
      ? { hash: hashOfSecret(secret), created_at: formatIso(nowMs) }
      : undefined,
  )
  return issued && secret
}

/**
 * The same without reading what was there, for a process that may not: any previous secret ends at
 * once. Durable when resolved.
 */
export async function issueNewCredential(kv: KV, id: string, nowMs: number): Promise<string> {
  const secret = newSecret()
  const credential: Credential = { hash: hashOfSecret(secret), created_at: formatIso(nowMs) }
  await kv.put(id, JSON.stringify(credential))
  return secret
}

/** It cannot be used to sign in any more, and open connections are closed. @throws MustAct none */
export async function revokeCredential(kv: KV, id: string, nowMs: number): Promise<void> {
  await changeCredential(kv, id, (before) => {
    if (before === undefined)
      throw new MustAct(`${id} has no credential: \`airproof sensors key ${id}\` makes one`)
    return { ...before, revoked_at: before.revoked_at ?? formatIso(nowMs) }
  })
}

const changeCredential = (
  kv: KV,
  id: string,
  change: (before: Credential | undefined) => Credential | undefined,
): Promise<Credential | undefined> =>
  changeEntry(kv, id, (read) => change(checkedEntry<Credential>(read)), {
    busy: () =>
      new TryAgain(`the credential of ${id} is being changed by another process: try again`),
  })
