/**
 * Who asks? Decided from the watched copy of the keys alone: no request waits for a look-up, and a
 * key revoked anywhere is dead here as soon as the watch brings it. A process that has lost touch
 * with NATS cannot know of revocations, so it lets nobody in.
 */
import { hash } from 'node:crypto'
import { apiKeyPrefix, checkKey } from '../core/api-key.ts'
import { parseIso } from '../core/iso-time.ts'
import type { KeyRecord } from '../schemas/account.ts'
import { ApiError, unavailable } from './api-error.ts'

/** A key as the guard needs it. */
export type KnownKey = {
  readonly id: string
  readonly account: string
  readonly expiresMs: number
  readonly isRevoked: boolean
}

export type Caller = { readonly key: string; readonly account: string }

export type KeyGuardOptions = {
  /** @param hash sha256 of the key, in hex */
  readonly find: (hash: string) => KnownKey | undefined
  /** How long ago memory was last known to hold all keys, ms. */
  readonly unheardMs: () => number
  readonly nowMs: () => number
}

/** After so long without a sign from NATS a revocation may have been missed. */
export const longestUnheardMs = 2_000

/** @throws ApiError 401 with its reason as `code`, or 503 while nothing can be known */
export type KeyGuard = (authorization: string | undefined) => Caller

export const createKeyGuard =
  ({ find, unheardMs, nowMs }: KeyGuardOptions): KeyGuard =>
  (authorization) => {
    if (unheardMs() > longestUnheardMs) {
      throw unavailable('keys_unknown', 'API keys cannot be checked right now')
    }
    if (authorization === undefined || authorization === '') throw missing()
    const [, text = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
    if (text === '') throw wrong('malformed')
    const key = find(hash('sha256', text))
    if (key === undefined) {
      const verdict = checkKey(apiKeyPrefix, text)
      throw wrong(verdict === 'ok' ? 'unknown' : verdict)
    }
    if (key.isRevoked) throw refused('revoked_key')
    if (nowMs() >= key.expiresMs) throw refused('expired_key')
    return { key: key.id, account: key.account }
  }

const realm = 'Bearer realm="airproof"'

const missing = (): ApiError =>
  new ApiError(401, 'missing_key', 'send your API key as Authorization: Bearer <API_KEY>', {
    headers: { 'www-authenticate': realm },
  })

/** Wrong, expired and revoked keys hear the same sentence; the code tells them apart. */
const refused = (code: string, details: Readonly<Record<string, unknown>> = {}): ApiError =>
  new ApiError(401, code, 'the API key is wrong or has expired', {
    details,
    headers: { 'www-authenticate': `${realm}, error="invalid_token"` },
  })

const wrong = (reason: string): ApiError => refused('invalid_key', { reason })

/** @returns undefined for a value of bucket `keys` that is no key */
export function parseKnownKey(value: unknown): KnownKey | undefined {
  if (!isRecord(value)) return undefined
  const { id, account, expires_at, revoked_at } = value
  if (typeof id !== 'string' || typeof account !== 'string') return undefined
  const expires = parseIso(typeof expires_at === 'string' ? expires_at : '')
  if (!('timeMs' in expires)) return undefined
  return { id, account, expiresMs: expires.timeMs, isRevoked: typeof revoked_at === 'string' }
}

const isRecord = (value: unknown): value is Partial<Record<keyof KeyRecord, unknown>> =>
  typeof value === 'object' && value !== null
