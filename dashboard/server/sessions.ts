/**
 * Sessions. Each is an entry of bucket `sessions` under the hash of its token, held in memory by a
 * watch: a request does no I/O, and a session that any process ends is over here as soon as the
 * watch receives it. It ends 30 days after sign-in, and 7 days after its last use.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { NatsConnection } from '@nats-io/transport-node'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { inCommon } from '../../runtime/in-common.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { type WatchedBucket, watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { putUnlessChanged } from '../../runtime/nats/cas.ts'
import type { Account } from '../../schemas/people/account.ts'
import { buckets } from '../../schemas/subjects.ts'
import { csrfOf, hashOfToken, newToken } from './cookies.ts'
import type { Session } from './route.ts'

export type SessionRecord = {
  readonly id: string
  readonly account: string
  readonly created_at: string
  readonly seen_at: string
  /** The browser's user agent at sign-in. */
  readonly agent: string
  /** The network of the sign-in. */
  readonly address: string
}

export type Visitor = { readonly agent: string; readonly address: string }

export type Sessions = AsyncDisposable & {
  /** From memory only. */
  readonly find: (token: string) => Session | undefined
  /** As `find`; a session that another process began a moment ago is looked up. */
  readonly findOrLook: (token: string) => Promise<Session | undefined>
  /** @returns the token for the cookie, new at every sign-in */
  readonly start: (account: string, visitor: Visitor) => Promise<string>
  /** Newest first. */
  readonly list: (account: string) => readonly SessionRecord[]
  /** @returns false where the account has no such session */
  readonly end: (account: string, id: string) => Promise<boolean>
  /** All of the account. @param but the session that stays */
  readonly endAll: (account: string, but?: string) => Promise<void>
}

const longestLifeMs = 30 * dayMs
const longestIdleMs = 7 * dayMs
/** The last use is recorded at most this often. */
const recordUseMs = hourMs
/** Of an account; beyond it, a sign-in ends the oldest. */
const mostSessions = 50
const mostStrangers = 10_000
/**
 * A cookie that memory does not know waits until memory has all that was written before it arrived.
 * All that arrive meanwhile wait together, so unknown cookies cost NATS at most 20 requests per
 * second, however many clients send them, and others on the same network do not pay for it.
 */
const catchUpEveryMs = 50

type Options = {
  readonly nc: NatsConnection
  readonly findAccount: (id: string) => Account | undefined
  readonly nowMs: () => number
}

export async function openSessions({ nc, findAccount, nowMs }: Options): Promise<Sessions> {
  const bucket = await watchBucket(nc, buckets.sessions, parseSession)
  const { kv } = bucket
  const isLive = ({ created_at, seen_at }: SessionRecord): boolean =>
    nowMs() - Date.parse(created_at) < longestLifeMs &&
    nowMs() - Date.parse(seen_at) < longestIdleMs
  const sessionsOf = (account: string): readonly [string, SessionRecord][] =>
    [...bucket.entries()]
      .filter(([, record]) => record.account === account && isLive(record))
      .toSorted(([, a], [, b]) => (a.created_at < b.created_at ? 1 : -1))
  const endEach = async (hashes: readonly string[]): Promise<void> => {
    if (hashes.length === 0) return
    await Promise.all(hashes.map((hash) => kv.delete(hash)))
    await bucket.barrier()
  }
  /** Cookies without a session: an old one waits only once. */
  const strangers = new BoundedMap<string, true>(mostStrangers)
  const caughtUp = inCommon(bucket.barrier, catchUpEveryMs)
  const sessions: Sessions = {
    findOrLook: async (token) => {
      const known = sessions.find(token)
      if (known !== undefined) return known
      const hash = hashOfToken(token)
      if (strangers.has(hash)) return undefined
      try {
        await caughtUp()
      } catch {
        // while NATS is away no new session can be known
        return undefined
      }
      if (bucket.get(hash) === undefined) strangers.set(hash, true)
      return sessions.find(token)
    },
    find: (token) => {
      const hash = hashOfToken(token)
      const record = bucket.get(hash)
      if (record === undefined || !isLive(record)) return undefined
      const account = findAccount(record.account)
      if (account === undefined) return undefined
      if (nowMs() - Date.parse(record.seen_at) > recordUseMs) void recordUse(bucket, hash, nowMs())
      return { id: record.id, account, csrf: csrfOf(token) }
    },
    start: async (account, { agent, address }) => {
      const token = newToken()
      const at = formatIso(nowMs())
      const record: SessionRecord = {
        id: `ses_${randomBytes(8).toString('hex')}`,
        account,
        created_at: at,
        seen_at: at,
        agent: agent.slice(0, 200),
        address,
      }
      await endEach(
        sessionsOf(account)
          .slice(mostSessions - 1)
          .map(([hash]) => hash),
      )
      await kv.put(hashOfToken(token), JSON.stringify(record))
      await bucket.barrier()
      return token
    },
    list: (account) => sessionsOf(account).map(([, record]) => record),
    end: async (account, id) => {
      const session = sessionsOf(account).find(([, record]) => record.id === id)
      if (session === undefined) return false
      await endEach([session[0]])
      return true
    },
    endAll: async (account, but) => {
      // another process may have begun a session a moment ago
      await bucket.barrier()
      const ended = sessionsOf(account).filter(([, { id }]) => id !== but)
      await endEach(ended.map(([hash]) => hash))
    },
    [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose](),
  }
  return sessions
}

/** By compare and swap: a session that was ended meanwhile must not return. */
async function recordUse(
  { kv }: WatchedBucket<SessionRecord>,
  hash: string,
  nowMs: number,
): Promise<void> {
  try {
    const read = await kv.get(hash)
    const record = parseSession(jsonOf(read))
    if (record !== undefined)
      await putUnlessChanged(kv, hash, { ...record, seen_at: formatIso(nowMs) }, read)
  } catch {
    // NATS is away: the next request tries again
  }
}

function parseSession(value: unknown): SessionRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  // Written only by this file, so the rest is taken as it is.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const record = value as SessionRecord
  // without its times a session would never end
  const times = [record.created_at, record.seen_at].map((text) => Date.parse(text))
  return times.every(Number.isFinite) ? record : undefined
}

/** In constant time. */
export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
