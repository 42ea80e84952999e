/** What an account's keys were used for: requests per key and day, and the last requests. */
import type { NatsConnection } from '@nats-io/transport-node'
import { dayOf } from '../../../core/access/quota.ts'
import { dayMs } from '../../../core/time.ts'
import { lastValues } from '../../../runtime/nats/buckets/last-values.ts'
import type { KeyRecord } from '../../../schemas/people/account.ts'
import { decodeCount, keyQuotaKey } from '../../../schemas/people/quota.ts'
import type { LoggedRequest } from '../../../schemas/people/requests.ts'
import { buckets } from '../../../schemas/subjects.ts'
import { rateBy } from '../rate-by.ts'
import type { DashboardRoute } from '../route.ts'
import { jsonRoute } from './json-route.ts'
import { choiceOf, wholeOf } from './query-params.ts'
import { readRequests } from './request-log.ts'

type Options = {
  readonly nc: NatsConnection
  /** Those of an account that are still listed, newest first. */
  readonly keysOf: (account: string) => Promise<readonly (readonly [string, KeyRecord])[]>
  readonly nowMs: () => number
  readonly clockMs: () => number
}

const shownDays = 30
/** How often an account may look: the log is read whole each time. */
const lookLimit = { perSecond: 1, burst: 30 }
const outcomes = ['ok', 'refused', 'failed'] as const
type Outcome = (typeof outcomes)[number]

const outcomeOf = ({ status }: LoggedRequest): Outcome =>
  status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'ok'

export function usageRoutes({ nc, keysOf, nowMs, clockMs }: Options): readonly DashboardRoute[] {
  const looking = rateBy({ limit: lookLimit, clockMs })
  return [
    jsonRoute({
      method: 'GET',
      path: '/data/usage-by-key',
      needs: 'session',
      answer: async ({ session: { account } }) => {
        looking.take(account.id)
        const own = await keysOf(account.id)
        const texts = await countsOf(
          nc,
          own.map(([, { id }]) => keyQuotaKey('*', account.id, id)),
        )
        const days = Array.from({ length: shownDays }, (_, ago) => dayOf(nowMs() - ago * dayMs))
        const usedOf = (key: string): readonly number[] =>
          days.map((day) => decodeCount(texts.get(keyQuotaKey(day, account.id, key)) ?? '').used)
        return {
          days,
          keys: own.map(([, { id, name, hint }]) => ({ id, name, hint, used: usedOf(id) })),
        }
      },
    }),
    jsonRoute({
      method: 'GET',
      path: '/data/requests',
      needs: 'session',
      answer: async ({ session: { account }, query }) => {
        const outcome = choiceOf(query, 'outcome', outcomes)
        const key = query.get('key') ?? ''
        const limit = wholeOf(query, 'limit', { most: 1_000, unless: 100 })
        looking.take(account.id)
        const { requests, leftOut } = await readRequests(nc, account.id)
        const counts = { ok: 0, refused: 0, failed: 0 }
        for (const request of requests) counts[outcomeOf(request)]++
        const chosen = requests.filter(
          (request) =>
            (key === '' || request.key === key) &&
            (outcome === undefined || outcomeOf(request) === outcome),
        )
        return {
          counts,
          left_out: leftOut,
          total: chosen.length,
          requests: chosen.slice(0, limit),
        }
      },
    }),
  ]
}

/** Keys asked for together: 40 days each, and the server reads 1,024 entries at once. */
const atOnce = 20

async function countsOf(
  nc: NatsConnection,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const all = new Map<string, string>()
  for (let i = 0; i < names.length; i += atOnce)
    for (const [name, text] of await lastValues(nc, buckets.quota, names.slice(i, i + atOnce)))
      all.set(name, text)
  return all
}
