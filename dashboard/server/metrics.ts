import { Counter, type Registry } from 'prom-client'
import type { Observe } from './app.ts'

export function countRequests(registry: Registry): Observe {
  const requests = new Counter({
    name: 'airproof_dashboard_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['route', 'status'],
    registers: [registry],
  })
  return ({ route, status }) => requests.inc({ route, status })
}
