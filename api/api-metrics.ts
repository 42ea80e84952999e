import type { Status } from '../core/state/presence.ts'
import { gaugeIn, requestTimes } from '../runtime/metrics.ts'
import { Counter, Gauge, type Registry } from '../runtime/prometheus.ts'
import type { Observe } from './app.ts'

type Options = {
  readonly registry: Registry
  readonly position: () => number
  readonly staleMs: () => number
  readonly streams: () => number
  /** How many in use have each status. */
  readonly sensors: () => Readonly<Record<Status, number>>
}

/** What an operator watches of an API process. @returns a function to call with each answer */
export function countRequests({
  registry,
  position,
  staleMs,
  streams,
  sensors,
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
  new Gauge({
    name: 'airproof_sensors',
    help: 'Sensors in use by status: online, held (silent with many others), offline, unheard (no fresh reading yet). Each API process knows all of them',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      for (const [status, count] of Object.entries(sensors())) this.set({ status }, count)
    },
  })
  const times = requestTimes(registry, 'airproof_api_request_seconds', 'route')
  return ({ route, status, ms }) => {
    requests.inc({ route, status })
    times(route, ms)
  }
}
