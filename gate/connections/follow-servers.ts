import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { deniedSubject } from '../../schemas/subjects.ts'
import type { InputGuard } from '../input-guard.ts'
import type { GateMetrics } from '../metrics.ts'
import type { SeenBook } from '../seen-book.ts'
import { followEnds } from './connections.ts'

type Options = {
  /** In the system account. */
  readonly system: NatsConnection
  readonly nc: NatsConnection
  readonly rules: SensorIdRules
  /** The sensor whose client a server's log names. */
  readonly sensorOfClient: (name: string) => string | undefined
  readonly seen: Pick<SeenBook, 'left' | 'denied'>
  readonly metrics: Pick<GateMetrics, 'denied'>
  readonly guard: Pick<InputGuard, 'callback'>
}

/** Notes when a sensor's connection ended, and what a server denied to it. */
export function followServers(options: Options): Disposable {
  const { system, nc, rules, sensorOfClient, seen, metrics, guard } = options
  const isSensor = (user: unknown): user is string =>
    typeof user === 'string' && rules.parse(user) !== undefined
  // several gates share the work
  const queue = 'gate'
  const ends = followEnds(
    system,
    guard,
    ({ user, reason }) => {
      if (isSensor(user)) seen.left(user, reason)
    },
    { queue },
  )
  const denials = followDenied(
    nc,
    guard,
    (name, count) => {
      const id = sensorOfClient(name)
      if (id === undefined) return
      metrics.denied.inc(count)
      seen.denied(id, count)
    },
    { queue },
  )
  return {
    [Symbol.dispose]: () => {
      ends[Symbol.dispose]()
      denials[Symbol.dispose]()
    },
  }
}

/** Calls back every second with what was denied to each client, as the server's log names it. */
export function followDenied(
  nc: NatsConnection,
  guard: Pick<InputGuard, 'callback'>,
  onDenied: (client: string, count: number) => void,
  { queue }: { readonly queue?: string } = {},
): Disposable {
  const subscription = nc.subscribe(deniedSubject('*'), {
    ...(queue === undefined ? {} : { queue }),
    callback: guard.callback('server', (error: Error | null, message: Msg) => {
      if (error) return
      for (const [client, count] of Object.entries(jsonOf(message)))
        if (typeof count === 'number') onDenied(client, count)
    }),
  })
  return {
    [Symbol.dispose]: () => {
      if (!nc.isClosed()) subscription.unsubscribe()
    },
  }
}

function jsonOf(message: Msg): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = message.json()
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value))
      : {}
  } catch {
    return {}
  }
}
