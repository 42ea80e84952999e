/**
 * Authenticates a request from the watched copy of the keys in memory: no request waits for a
 * look-up, and a key revoked anywhere stops working here as soon as the watch reports it. A process
 * that has lost touch with NATS cannot know of revocations, so it refuses every request.
 */

import { hash } from 'node:crypto'
import { apiKeyPrefix, checkKey } from '../../core/access/api-key.ts'
import { parseIso } from '../../core/iso-time.ts'
import type { Account, KeyRecord } from '../../schemas/people/account.ts'
import type { Caller } from '../http/answer.ts'
import { ApiError, unavailable } from '../http/api-error.ts'
import type { ApiErrorCode } from '../http/api-errors.ts'

/** A key as the guard needs it. */
export type KnownKey = {
  readonly id: string
  readonly account: string
  readonly name: string
  /** Its first characters. */
  readonly hint: string
  readonly expiresMs: number
  readonly isRevoked: boolean
  /** The dashboard’s own key: no quota, and it may act on behalf of any account. */
  readonly isInternal: boolean
}

type ActsFor = AuthHeaders[typeof accountHeader]

export type KeyGuardOptions = {
  /** @param hash sha256 of the key, in hex */
  readonly find: (hash: string) => KnownKey | undefined
  readonly hasAccount: (account: string) => boolean
  /** How long ago the copy in memory was last known to hold all keys, ms. */
  readonly staleMs: () => number
  readonly nowMs: () => number
}

/** If NATS has not answered for this long, a revocation may have been missed. */
export const longestStaleMs = 2_000

/** Names the account that an internal caller acts for; ignored from every other caller. */
export const accountHeader = 'airproof-account'

/** The network of the visitor that an internal caller acts for, for fair turns; as above. */
export const networkHeader = 'airproof-network'

/** The headers of a request that identify the caller. */
export type AuthHeaders = {
  readonly authorization?: string | undefined
  readonly [accountHeader]?: string | string[] | undefined
}

/**
 * @param keyHash of a token's key, which then counts instead of the headers
 * @throws ApiError 401 with its reason as `code`, or 503 while the keys in force are not known
 */
export type KeyGuard = (headers: AuthHeaders, keyHash?: string) => Caller

export function createKeyGuard({ find, hasAccount, staleMs, nowMs }: KeyGuardOptions): KeyGuard {
  const mustBeFresh = (): void => {
    if (staleMs() > longestStaleMs) {
      throw unavailable('keys_unknown', 'API keys cannot be checked right now')
    }
  }
  const judge = (name: string, text: string, actsFor: ActsFor): Omit<Caller, 'checkAgain'> => {
    const key = find(name)
    if (key === undefined) {
      const verdict = checkKey(apiKeyPrefix, text)
      throw wrong(verdict === 'ok' ? 'unknown' : verdict)
    }
    if (key.isRevoked) throw refused('revoked_key')
    if (nowMs() >= key.expiresMs) throw refused('expired_key')
    const { id, isInternal } = key
    if (isInternal && actsFor === undefined)
      return { key: id, keyHash: name, account: key.account, isInternal, isVisitor: true }
    const account = isInternal ? actsFor : key.account
    // a header sent twice arrives joined by a comma, which does not name an account either
    if (typeof account !== 'string' || !hasAccount(account)) throw refused('unknown_account')
    return { key: id, keyHash: name, account, isInternal, isVisitor: false }
  }
  const ofToken = (keyHash: string): Caller => {
    const check = (): Omit<Caller, 'checkAgain'> => {
      mustBeFresh()
      // the dashboard's own key has no tokens
      if (find(keyHash)?.isInternal !== false) throw refusedToken()
      return judge(keyHash, '', undefined)
    }
    return { ...check(), checkAgain: () => void check() }
  }
  return ({ authorization, [accountHeader]: actsFor }, keyHash) => {
    if (keyHash !== undefined) return ofToken(keyHash)
    mustBeFresh()
    if (authorization === undefined || authorization === '') throw missing()
    const [, text = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
    if (text === '') throw wrong('malformed')
    const name = hash('sha256', text)
    return {
      ...judge(name, text, actsFor),
      checkAgain: () => {
        mustBeFresh()
        judge(name, text, actsFor)
      },
    }
  }
}

const realm = 'Bearer realm="airproof"'

const missing = (): ApiError =>
  new ApiError(401, 'missing_key', 'send your API key as Authorization: Bearer <API_KEY>', {
    headers: { 'www-authenticate': realm },
  })

/** Wrong, expired and revoked keys get the same sentence; the code tells them apart. */
const refused = (code: ApiErrorCode, details: Readonly<Record<string, unknown>> = {}): ApiError =>
  new ApiError(401, code, 'the API key is wrong or has expired', {
    details,
    headers: { 'www-authenticate': `${realm}, error="invalid_token"` },
  })

/** Its key may be fine: the client gets another one with it. */
export const refusedToken = (): ApiError =>
  new ApiError(
    401,
    'invalid_token',
    'the token is wrong or over: get another one at /v1/stream/token',
    {
      headers: { 'www-authenticate': `${realm}, error="invalid_token"` },
    },
  )

const wrong = (reason: string): ApiError => refused('invalid_key', { reason })

/** @returns undefined for a value of bucket `keys` that is not a key */
export function parseKnownKey(value: unknown): KnownKey | undefined {
  if (!isRecord(value)) return undefined
  const { id, account, name, hint, expires_at, revoked_at, internal } = value
  if (typeof id !== 'string' || typeof account !== 'string') return undefined
  const expires = parseIso(typeof expires_at === 'string' ? expires_at : '')
  if (!('timeMs' in expires)) return undefined
  return {
    id,
    account,
    name: typeof name === 'string' ? name : '',
    hint: typeof hint === 'string' ? hint : '',
    expiresMs: expires.timeMs,
    isRevoked: typeof revoked_at === 'string',
    isInternal: internal === true,
  }
}

const isRecord = (value: unknown): value is Partial<Record<keyof KeyRecord, unknown>> =>
  typeof value === 'object' && value !== null

export type Tier = Account['tier']

/** An account as the API needs it. */
type KnownAccount = { readonly tier: Tier }

/** @returns undefined for a value of bucket `accounts` that is not an account */
export function parseKnownAccount(value: unknown): KnownAccount | undefined {
  if (typeof value !== 'object' || value === null || !('tier' in value)) return undefined
  const { tier } = value
  return tier === 'free' || tier === 'premium' ? { tier } : undefined
}
