import { secondMs } from '../../core/time.ts'
import { counterIn, gaugeIn, requestTimes } from '../../runtime/metrics.ts'
import type { Registry } from '../../runtime/prometheus.ts'
import type { Spool } from './spool.ts'

/** Called for every answered request. */
export type Observe = (answered: {
  /** `none`: there is no such address. */
  readonly endpoint: string
  /** `stored`, `spooled`, `nothing`, or the code of an error. */
  readonly outcome: string
  readonly readings: number
  readonly ms: number
}) => void

/** @param registry of the process */
export function pushMetrics(
  registry: Registry,
  {
    spools,
    nowMs,
  }: { readonly spools: readonly Pick<Spool, 'bytes' | 'sinceMs'>[]; readonly nowMs: () => number },
): Observe {
  const counter = counterIn(registry)
  const pushes = counter(
    'airproof_push_requests_total',
    'Pushes by endpoint and outcome: stored, spooled, nothing, or what was wrong',
    'endpoint',
    'outcome',
  )
  const taken = counter(
    'airproof_push_readings_total',
    'Readings taken, stored or spooled, by endpoint',
    'endpoint',
  )
  const gauge = gaugeIn(registry)
  gauge('airproof_push_spool_bytes', 'What waits on the disk for NATS', () =>
    spools.reduce((sum, spool) => sum + spool.bytes(), 0),
  )
  gauge('airproof_push_spool_age_seconds', 'Age of the oldest of it; 0: nothing waits', () => {
    const sinceMs = Math.min(...spools.map((spool) => spool.sinceMs() ?? Number.POSITIVE_INFINITY))
    return Math.max(0, nowMs() - sinceMs) / secondMs
  })
  const times = requestTimes(registry, 'airproof_push_request_seconds', 'endpoint')
  return ({ endpoint, outcome, readings, ms }) => {
    times(endpoint, ms)
    pushes.inc({ endpoint, outcome })
    if (readings > 0) taken.inc({ endpoint }, readings)
  }
}
