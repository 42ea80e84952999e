/**
 * The signed-in account's own API keys: list, create, revoke. Those of others do not exist here.
 */
import { dayMs } from '../../../core/time.ts'
import {
  type AccountBook,
  createKey,
  findAccount,
  hashOfKey,
  isKeyName,
  keyNameExpected,
  revokeKeyOfHash,
} from '../../../operate/account-book.ts'
import type { WatchedBucket } from '../../../runtime/nats/watched-bucket.ts'
import type { KeyRecord } from '../../../schemas/people/account.ts'
import { rateBy } from '../rate-by.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { inTurn } from './in-turn.ts'
import { jsonRoute, wrongFields } from './json-route.ts'

/** Of one account, in this process: several processes make at most this number each. */
export const mostLiveKeys = 20
/** Ended keys that stay listed; the oldest are forgotten, and are then unknown like any other. */
const mostEndedKeys = 30
const endedKeptMs = 90 * dayMs
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

export function keyRoutes(options: Options): readonly DashboardRoute[] {
  const { book, keys, hashesOf, lastUsed, audit, nowMs, clockMs } = options
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
  /** Newest first, including those made a moment ago, each with its hash. */
  const keysOf = async (account: string): Promise<[string, KeyRecord][]> => {
    await keys.barrier()
    return [...hashesOf(account)]
      .flatMap((hash): [string, KeyRecord][] => {
        const key = keys.get(hash)
        return key === undefined || key.internal === true ? [] : [[hash, key]]
      })
      .toSorted(([, a], [, b]) => (a.created_at < b.created_at ? 1 : -1))
  }

  const make = async (account: string, name: string) => {
    const all = await keysOf(account)
    const live = all.filter(([, key]) => stateOf(key) === 'live')
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
    const made = await createKey(book, { account, name, nowMs: nowMs() })
    // deleted meanwhile: the deletion may have looked for keys before this one existed
    if ((await findAccount(book, account)) === undefined) {
      await book.keys.delete(hashOfKey(made.key))
      throw new Refusal(401, 'not_signed_in', 'the account was deleted')
    }
    return made
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
        const name = nameOf(body)
        making.take(account.id)
        const { key, record } = await turns(account.id, () => make(account.id, name))
        await audit(account.id, 'key_created', ctx, { key: record.id, name })
        return { key, record: viewOf(record) }
      },
    }),
    jsonRoute({
      method: 'DELETE',
      path: '/data/keys/:id',
      needs: 'session',
      answer: async ({ session: { account }, names, ctx }) => {
        ending.take(account.id)
        const own = await keysOf(account.id)
        const [hash] = own.find(([, { id }]) => id === names['id']) ?? []
        if (hash === undefined)
          throw new Refusal(404, 'key_not_found', 'your account has no key of that id')
        const record = await revokeKeyOfHash(book, hash, nowMs())
        await audit(account.id, 'key_revoked', ctx, { key: record.id, name: record.name })
        return { record: viewOf(record) }
      },
    }),
  ]
}

/** @throws Refusal 400 */
function nameOf({ name, ...others }: Readonly<Record<string, unknown>>): string {
  const text = typeof name === 'string' ? name.trim().normalize('NFC') : ''
  const [stray] = Object.keys(others)
  if (stray !== undefined)
    throw wrongFields([
      { field: stray.slice(0, 100), expected: 'left out: there is no such field' },
    ])
  if (isKeyName(text)) return text
  throw wrongFields([{ field: 'name', expected: keyNameExpected }])
}
