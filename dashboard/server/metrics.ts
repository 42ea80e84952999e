import { requestTimes } from '../../runtime/metrics.ts'
import { Counter, type Registry } from '../../runtime/prometheus.ts'
import type { Observe } from './app.ts'

export function countRequests(registry: Registry): Observe {
  const requests = new Counter({
    name: 'airproof_dashboard_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['route', 'status'],
    registers: [registry],
  })
  const times = requestTimes(registry, 'airproof_dashboard_request_seconds', 'route')
  return ({ route, status, ms }) => {
    requests.inc({ route, status })
    times(route, ms)
  }
}

/** @returns the counter, to be called with each mail's outcome */
export function countMails(registry: Registry): (kind: string, outcome: string) => void {
  const mails = new Counter({
    name: 'airproof_dashboard_mails_total',
    help: 'Mails by kind and outcome',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  })
  return (kind, outcome) => mails.inc({ kind, outcome })
}
