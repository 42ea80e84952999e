/**
 * The signed-in account's own API keys: list, create, roll, revoke. Those of others do not exist here.
 */
import { dayMs, hourMs } from '../../../core/time.ts'
import {
  type AccountBook,
  createKey,
  endKeyOfHash,
  findAccount,
  hashOfKey,
  isKeyName,
  type KeyDays,
  keyDays,
  keyNameExpected,
  revokeKeyOfHash,
} from '../../../operate/account-book.ts'
import type { WatchedBucket } from '../../../runtime/nats/buckets/watched-bucket.ts'
import type { KeyRecord } from '../../../schemas/people/account.ts'
import { rateBy } from '../rate-by.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { inTurn } from './in-turn.ts'
import { jsonRoute, wrongFields } from './json-route.ts'

/** Of one account, in this process: several processes make at most this number each. One more while a key is rolled. */
export const mostLiveKeys = 20
/** Ended keys that stay listed; the oldest are forgotten, and are then unknown like any other. */
const mostEndedKeys = 30
const endedKeptMs = 90 * dayMs
/** For how long a key that was rolled may go on. */
const overlapHours = [0, 1, 24, 72] as const
/** How often an account may make a key, and end one. */
const changeLimit = { perSecond: 1 / 30, burst: 40 }

type Options = {
  readonly book: AccountBook
  /** Bucket `keys`. */
  readonly keys: WatchedBucket<KeyRecord>
  /** The hashes of an account's keys. */
  readonly hashesOf: (account: string) => ReadonlySet<string>
  /** When a key was last used, as ISO 8601; undefined: never. */
  readonly lastUsed: (keyId: string) => string | undefined
  readonly audit: WriteAudit
  readonly nowMs: () => number
  readonly clockMs: () => number
}

export type KeyState = 'live' | 'expired' | 'revoked'

export type KeyView = {
  readonly id: string
  readonly name: string
  /** Its first characters. */
  readonly hint: string
  readonly state: KeyState
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The keys of an account, newest first, each with its hash; those made a moment ago too. */
export const keysOfAccount =
  ({ keys, hashesOf }: Pick<Options, 'keys' | 'hashesOf'>) =>
  async (account: string): Promise<[string, KeyRecord][]> => {
    await keys.barrier()
    return [...hashesOf(account)]
      .flatMap((hash): [string, KeyRecord][] => {
        const key = keys.get(hash)
        return key === undefined || key.internal === true ? [] : [[hash, key]]
      })
      .toSorted(([, a], [, b]) => (a.created_at < b.created_at ? 1 : -1))
  }

export function keyRoutes(options: Options): readonly DashboardRoute[] {
  const { book, keys, lastUsed, audit, nowMs, clockMs } = options
  const making = rateBy({ limit: changeLimit, clockMs })
  const ending = rateBy({ limit: changeLimit, clockMs })
  const turns = inTurn()
  const stateOf = ({ revoked_at, expires_at }: KeyRecord): KeyState => {
    if (revoked_at !== undefined) return 'revoked'
    return Date.parse(expires_at) <= nowMs() ? 'expired' : 'live'
  }
  const viewOf = (key: KeyRecord): KeyView => ({
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: stateOf(key),
    created_at: key.created_at,
    expires_at: key.expires_at,
    revoked_at: key.revoked_at ?? null,
    last_used_at: lastUsed(key.id) ?? null,
  })
  const keysOf = keysOfAccount(options)

  /** @param former the hash of the key that it replaces, which does not count */
  const make = async (account: string, { name, days }: Wanted, former?: string) => {
    const all = await keysOf(account)
    const live = all.filter(([hash, key]) => stateOf(key) === 'live' && hash !== former)
    if (live.length >= mostLiveKeys)
      throw new Refusal(
        409,
        'too_many_keys',
        `an account has at most ${mostLiveKeys} keys that work: revoke one you no longer need`,
        { details: { limit: mostLiveKeys } },
      )
    const ended = all.filter(([, key]) => stateOf(key) !== 'live')
    const isOld = ([, key]: [string, KeyRecord], place: number): boolean =>
      place >= mostEndedKeys || nowMs() - Date.parse(key.expires_at) > endedKeptMs
    await Promise.all(ended.filter(isOld).map(([hash]) => keys.kv.delete(hash)))
    const made = await createKey(book, { account, name, days, nowMs: nowMs() })
    // deleted meanwhile: the deletion may have looked for keys before this one existed
    if ((await findAccount(book, account)) === undefined) {
      await book.keys.delete(hashOfKey(made.key))
      throw new Refusal(401, 'not_signed_in', 'the account was deleted')
    }
    return made
  }

  /** @throws Refusal 404 */
  const ownKey = async (account: string, id: string | undefined): Promise<[string, KeyRecord]> => {
    const own = (await keysOf(account)).find(([, key]) => key.id === id)
    if (own === undefined)
      throw new Refusal(404, 'key_not_found', 'your account has no key of that id')
    return own
  }

  return [
    jsonRoute({
      method: 'GET',
      path: '/data/keys',
      needs: 'session',
      answer: async ({ session }) => {
        const all = await keysOf(session.account.id)
        return { count: all.length, limit: mostLiveKeys, keys: all.map(([, key]) => viewOf(key)) }
      },
    }),
    jsonRoute({
      method: 'POST',
      path: '/data/keys',
      needs: 'session',
      status: 201,
      answer: async ({ session: { account }, body, ctx }) => {
        const { name, ...others } = body
        const wanted = { name: nameOf(name), ...choicesOf(others, ['days']) }
        making.take(account.id)
        const { key, record } = await turns(account.id, () => make(account.id, wanted))
        await audit(account.id, 'key_created', ctx, { key: record.id, name: record.name })
        return { key, record: viewOf(record) }
      },
    }),
    // a process that dies between the two leaves both keys, and the former one may be rolled again
    jsonRoute({
      method: 'POST',
      path: '/data/keys/:id/roll',
      needs: 'session',
      status: 201,
      answer: async ({ session: { account }, names, body, ctx }) => {
        const { days, overlapMs } = choicesOf(body, ['days', 'overlap_hours'])
        making.take(account.id)
        return await turns(account.id, async () => {
          const [hash, former] = await ownKey(account.id, names['id'])
          if (stateOf(former) !== 'live')
            throw new Refusal(409, 'key_ended', 'the key does not work any more: make a new one')
          const { key, record } = await make(account.id, { name: former.name, days }, hash)
          const ending = await endKeyOfHash(book, hash, nowMs() + overlapMs)
          const what = { key: record.id, from: former.id, name: record.name }
          await audit(account.id, 'key_rolled', ctx, what)
          return { key, record: viewOf(record), former: viewOf(ending) }
        })
      },
    }),
    jsonRoute({
      method: 'DELETE',
      path: '/data/keys/:id',
      needs: 'session',
      answer: async ({ session: { account }, names, ctx }) => {
        ending.take(account.id)
        const [hash] = await ownKey(account.id, names['id'])
        const record = await revokeKeyOfHash(book, hash, nowMs())
        await audit(account.id, 'key_revoked', ctx, { key: record.id, name: record.name })
        return { record: viewOf(record) }
      },
    }),
  ]
}

type Wanted = { readonly name: string; readonly days: KeyDays }

/** @throws Refusal 400 */
function nameOf(name: unknown): string {
  const text = typeof name === 'string' ? name.trim().normalize('NFC') : ''
  if (isKeyName(text)) return text
  throw wrongFields([{ field: 'name', expected: keyNameExpected }])
}

/** What of a key may be chosen, each of a few. @throws Refusal 400 */
function choicesOf(
  body: Readonly<Record<string, unknown>>,
  fields: readonly ('days' | 'overlap_hours')[],
): { readonly days: KeyDays; readonly overlapMs: number } {
  const stray = Object.keys(body).find((name) => !fields.some((field) => field === name))
  if (stray !== undefined)
    throw wrongFields([
      { field: stray.slice(0, 100), expected: 'left out: there is no such field' },
    ])
  const { days = 90, overlap_hours = 0 } = body
  const life = keyDays.find((one) => one === days)
  const hours = overlapHours.find((one) => one === overlap_hours)
  if (life === undefined)
    throw wrongFields([{ field: 'days', expected: `one of ${keyDays.join(', ')}` }])
  if (hours === undefined)
    throw wrongFields([{ field: 'overlap_hours', expected: `one of ${overlapHours.join(', ')}` }])
  return { days: life, overlapMs: hours * hourMs }
}
