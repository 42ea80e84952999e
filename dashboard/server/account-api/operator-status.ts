import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../../core/time.ts'
import { readLastBatches } from '../../../operate/last-batches.ts'
import { readStageLags } from '../../../operate/stage-lags.ts'
import { readStatus } from '../../../operate/status-report.ts'
import type { DashboardRoute } from '../route.ts'
import { jsonRoute } from './json-route.ts'
import { wholeOf } from './query-params.ts'

/** Rates are taken over this time. */
const lookMs = secondMs
const needs = 'operator'

/** The state of everything: `airproof status` in the browser, and the newest batches. */
export function operatorStatusRoutes(nc: NatsConnection): readonly DashboardRoute[] {
  /** Requests that arrive while a look is under way share it. */
  let looking: Promise<object> | undefined
  const look = (): Promise<object> => {
    looking ??= readAll(nc).finally(() => (looking = undefined))
    return looking
  }
  return [
    jsonRoute({ method: 'GET', path: '/operator/api/status', needs, answer: look }),
    jsonRoute({
      method: 'GET',
      path: '/operator/api/anchors',
      needs,
      answer: ({ query }) =>
        readLastBatches(nc, wholeOf(query, 'limit', { most: 200, unless: 20 })),
    }),
  ]
}

async function readAll(nc: NatsConnection): Promise<object> {
  const [report, lags] = await Promise.all([readStatus(nc, { lookMs }), readStageLags(nc)])
  return { ...report, lags }
}
