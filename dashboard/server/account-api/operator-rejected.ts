import type { NatsConnection } from '@nats-io/transport-node'
import {
  countRejected,
  listRejected,
  needRejected,
  type RejectedWithBytes,
  rejectedReasons,
  replayRejected,
} from '../../../operate/rejected-messages.ts'
import { MustAct } from '../../../runtime/exit.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { jsonRoute, wrongFields } from './json-route.ts'
import { choiceOf, wholeOf } from './query-params.ts'

type Options = { readonly nc: NatsConnection; readonly audit: WriteAudit }

const path = '/operator/api/rejected'
const needs = 'operator'
const mostAtOnce = 500
const refused = rejectedReasons.filter((reason) => reason !== 'partial')

/** What was refused, why, and sending it again: `airproof rejected` in the browser. */
export const operatorRejectedRoutes = ({ nc, audit }: Options): readonly DashboardRoute[] => [
  jsonRoute({
    method: 'GET',
    path,
    needs,
    answer: async ({ query }) => {
      const reason = choiceOf(query, 'reason', rejectedReasons)
      const sensor = query.get('sensor') || undefined
      const limit = wholeOf(query, 'limit', { most: mostAtOnce, unless: 50 })
      const [counts, rejected] = await Promise.all([
        countRejected(nc),
        // what was accepted in part is not refused: only where it is asked for
        listRejected(nc, { reasons: reason === undefined ? refused : [reason], sensor }, limit),
      ])
      return { counts, count: rejected.length, rejected }
    },
  }),
  jsonRoute({
    method: 'GET',
    path: `${path}/:id`,
    needs,
    answer: async ({ names }) => ({ rejected: shown(await find(nc, names['id'] ?? '')) }),
  }),
  jsonRoute({
    method: 'POST',
    path: '/operator/api/replay',
    needs,
    answer: async ({ body, session, ctx }) => {
      const ids = idsOf(body)
      const chosen = await Promise.all(ids.map((id) => find(nc, id)))
      const again = await replayRejected(nc, chosen)
      await audit(session.account.id, 'operator_rejected_replayed', ctx, {
        count: again.replayed,
        first: ids[0] ?? '',
      })
      return again
    },
  }),
]

/** @throws Refusal 404 */
async function find(nc: NatsConnection, id: string): Promise<RejectedWithBytes> {
  try {
    return await needRejected(nc, id)
  } catch (error) {
    if (!(error instanceof MustAct)) throw error
    throw new Refusal(
      404,
      'rejected_not_found',
      `nothing is stored as ${id.slice(0, 100)} any more`,
    )
  }
}

/** Its bytes as text where they are UTF-8, else as base 64. */
function shown({ bytes, isTruncated, ...rejected }: RejectedWithBytes): object {
  const fields = { ...rejected, kept_bytes: bytes.length, truncated: isTruncated }
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { ...fields, body, body_encoding: 'utf8' }
  } catch {
    return { ...fields, body: Buffer.from(bytes).toString('base64'), body_encoding: 'base64' }
  }
}

/** @throws Refusal 400 */
function idsOf({ ids }: Readonly<Record<string, unknown>>): readonly string[] {
  const isRight =
    Array.isArray(ids) &&
    ids.length > 0 &&
    ids.length <= mostAtOnce &&
    ids.every((id) => typeof id === 'string')
  if (isRight) return [...new Set(ids.map(String))]
  throw wrongFields([{ field: 'ids', expected: `a list of 1 to ${mostAtOnce} ids` }])
}
