import { Counter, type Registry } from 'prom-client'
import { gaugeIn } from '../runtime/metrics.ts'
import type { Observe } from './app.ts'

type Options = {
  readonly registry: Registry
  readonly position: () => number
  readonly staleMs: () => number
  readonly streams: () => number
}

/** Counts answers by route and status. @returns a function to call with each answer */
export function countRequests({
  registry,
  position,
  staleMs,
  streams,
}: Options): (seen: Parameters<Observe>[0]) => void {
  const requests = new Counter({
    name: 'airproof_api_requests_total',
    help: 'Answered requests',
    labelNames: ['route', 'status'],
    registers: [registry],
  })
  const gauge = gaugeIn(registry)
  gauge('airproof_api_readings_position', 'Sequence of READINGS folded last', position)
  gauge('airproof_api_streams', 'Streams that are open', streams)
  gauge(
    'airproof_api_unheard_seconds',
    'Since the keys were last known to be whole',
    () => staleMs() / 1000,
  )
  return ({ route, status }) => requests.inc({ route, status })
}
