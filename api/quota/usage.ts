import { dayEndsMs, dayOf, type Limits, minuteEndsMs } from '../../core/access/quota.ts'
import { formatIsoMs, toIsoMs } from '../../core/iso-time.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import { asVersion1 } from '../../schemas/formats.ts'
import { decodeCount, quotaKey } from '../../schemas/people/quota.ts'
import type { KnownKey } from '../access/key-guard.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { ApiError } from '../http/api-error.ts'
import { quotaUnknown } from './standing.ts'

type Options = {
  /** undefined if the account does not exist. */
  readonly tierOf: (account: string) => string | undefined
  readonly limitsOf: (account: string) => Limits
  /** Hash → key. */
  readonly keys: () => Iterable<readonly [string, KnownKey]>
  /** Bucket, keys → values (`runtime/nats/buckets/last-values.ts`). */
  readonly read: (
    bucket: 'quota' | 'used',
    keys: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>
  readonly nowMs: () => number
}

const shownDays = 30

/** GET /v1/usage: what the account has used, and when its keys were last used. Not charged to the day. */
export const showUsage = ({ tierOf, limitsOf, keys, read, nowMs }: Options): Route => ({
  path: '/v1/usage',
  params: [],
  types: [jsonType],
  isUncharged: true,
  answer: async ({ caller }) => {
    const account = caller?.account ?? ''
    const tier = tierOf(account)
    if (tier === undefined) {
      throw new ApiError(400, 'account_needed', 'name the account in the header airproof-account')
    }
    const atMs = nowMs()
    const live: KnownKey[] = []
    for (const [, key] of keys()) {
      if (key.account === account && !key.isRevoked && key.expiresMs > atMs) live.push(key)
    }
    const [counts, used] = await Promise.all([
      read('quota', [quotaKey('*', account)]),
      read(
        'used',
        live.map(({ id }) => id),
      ),
    ]).catch((error: unknown) => {
      throw isServerAway(error) ? quotaUnknown(error) : error
    })
    const countOf = (day: string) => decodeCount(counts.get(quotaKey(day, account)) ?? '')
    const { perDay, perMinute } = limitsOf(account)
    const today = countOf(dayOf(atMs))
    const isThisMinute = minuteEndsMs(today.minute * minuteMs) === minuteEndsMs(atMs)
    const inMinute = isThisMinute ? today.inMinute : 0
    return jsonAnswer({
      status: 'success',
      tier,
      limit: perDay,
      used: today.used,
      remaining: Math.max(0, perDay - today.used),
      reset: formatIsoMs(dayEndsMs(atMs)),
      burst: {
        limit: perMinute,
        used: inMinute,
        remaining: Math.max(0, perMinute - inMinute),
        reset: formatIsoMs(minuteEndsMs(atMs)),
      },
      days: Array.from({ length: shownDays }, (_, ago) => {
        const date = dayOf(atMs - ago * dayMs)
        return { date, used: countOf(date).used }
      }),
      keys: live.map(({ id, name, hint }) => ({
        id,
        name,
        hint,
        last_used_at: lastUsed(used.get(id)),
      })),
    })
  },
})

/** To the minute; null if the key was never used, or its entry cannot be read. */
function lastUsed(text: string | undefined): string | null {
  try {
    const value = text === undefined ? null : asVersion1('entry', JSON.parse(text))
    return typeof value === 'string' ? toIsoMs(value) : null
  } catch {
    return null
  }
}
