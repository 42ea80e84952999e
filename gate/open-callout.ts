/**
 * The part of the gate that is between sensors and our NATS server: it judges sign-ins,
 * ends connections that must not continue, and reports which sensors are connected.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../core/air/sensor-id.ts'
import { topicsOf } from '../core/device-topics.ts'
import { isOwnUser } from '../runtime/engines/nats-users.ts'
import type { Logger } from '../runtime/log.ts'
import type { PackedBucket } from '../runtime/nats/buckets/packed-bucket.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import type { SharedConfig } from '../runtime/process/config.ts'
import type { Application } from '../schemas/devices/application.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { tasks } from '../schemas/system-keys.ts'
import { sharedCatchUp } from './callout/catch-up.ts'
import { deniedLog } from './callout/denied-log.ts'
import { createDoor } from './callout/door.ts'
import { openSigners } from './callout/nats-jwt.ts'
import { recentSignIns } from './callout/recent-sign-ins.ts'
import { openResponder } from './callout/responder.ts'
import { indexClientIds } from './client-ids.ts'
import type { CalloutConfig } from './config.ts'
import { answerConnections } from './connections/answer-connections.ts'
import { type Connections, followEnds, openConnections } from './connections/connections.ts'
import { createFloodLedger } from './connections/flood-ledger.ts'
import { watchFloods } from './connections/flood-watch.ts'
import { followDenied, followServers } from './connections/follow-servers.ts'
import { openKicker } from './connections/kicker.ts'
import { openPauses, type Pauses } from './connections/pauses.ts'
import type { ApplicationBook, CredentialBook } from './credential-book.ts'
import type { InputGuard } from './input-guard.ts'
import type { GateMetrics } from './metrics.ts'
import { ofApplication } from './push/flood.ts'
import type { SeenBook } from './seen-book.ts'
import { SingleDuty } from './single-duty.ts'
import { followSpent } from './spent.ts'
import { watchChanges } from './watch-changes.ts'

export type CalloutOptions = {
  /** As user `gate`. */
  readonly nc: NatsConnection
  readonly config: Pick<SharedConfig, 'natsUrl' | 'natsPinFile'>
  readonly callout: CalloutConfig
  readonly rules: SensorIdRules
  readonly sensors: PackedBucket<RegisteredSensor>
  readonly book: CredentialBook
  readonly applications: ApplicationBook
  readonly seen: SeenBook
  readonly metrics: GateMetrics
  /** Stable over restarts. */
  readonly holder: string
  readonly guard: InputGuard
  readonly log: Logger
  readonly stop: AbortSignal
  readonly floodEveryMs?: number
}

/** How long a flooding sensor stays out. */
const pauseMs = 60_000

export type Callout = AsyncDisposable & {
  /** How long a sensor that flooded is not let in yet; 0: it is. */
  readonly pausedForMs: (id: string) => number
}

/** Resolves when sensors can sign in. */
export async function openCallout(options: CalloutOptions): Promise<Callout> {
  const { nc, callout, rules, sensors, book, seen, metrics, guard, log, stop } = options
  await using opened = new AsyncDisposableStack()
  const signIn = async (
    login: CalloutConfig['login'],
    name: string,
    more: { readonly againMs?: number } = {},
  ): Promise<NatsConnection> => {
    const settings = { ...options.config, natsLogin: login }
    const connection = await connectNats(settings, { name, log, stop, ...more })
    opened.defer(() => connection.close())
    return connection
  }
  const system = await signIn(callout.system, 'gate (connections)')
  // a server does not repeat its question: a sensor that is back before us waits for 10 s
  const judging = await signIn(callout.login, 'gate (sign-ins)', { againMs: 20 })
  const onFailure = (error: unknown): void => {
    metrics.failures.inc()
    log.debug({ err: error }, 'a server did not answer')
  }

  const connections = openConnections(system)
  const recent = recentSignIns()
  const kicker = opened.use(
    openKicker({
      connections,
      signedInAtMs: recent.atMs,
      onKicked: ({ user }, why) => {
        metrics.closed.inc({ why })
        log.info({ sensor: user, why }, 'a connection was closed')
      },
      onFailure,
    }),
  )
  const pauses = opened.use(
    openPauses(nc, {
      nowMs: Date.now,
      onPause: (id) => void kicker.kick(id, 'flood'),
    }),
  )
  opened.defer(watchChanges(options, (id) => void kicker.kick(id, 'revoked')))
  opened.defer(
    options.applications.onChange((id) => {
      if (!isOwnUser(id) && !options.applications.mayStay(id)) void kicker.kick(id, 'revoked')
    }),
  )
  const sensorOfClient = indexClientIds(sensors)
  opened.use(followServers({ system, nc, rules, sensorOfClient, seen, metrics, guard }))
  opened.use(answerConnections(nc, connections))
  opened.use(
    await openResponder({
      nc: judging,
      signerFor: openSigners(callout.seeds),
      nowMs: Date.now,
      onError: (error) => guard.failed('sign_in', error),
      judge: createDoor({
        rules,
        book,
        gatewayOf: (id) => gatewayOf(id, options),
        gateways: options.applications,
        sensorOf: sensors.get,
        catchUp: sharedCatchUp([sensors.barrier, book.barrier, options.applications.barrier]),
        deviceSubjects: ({ device }) => (device === undefined ? [] : topicsOf(device)),
        isPaused: (id) => pauses.leftMs(id) > 0,
        seen,
        recent,
        count: (protocol, verdict) => metrics.signIns.inc({ protocol, verdict }),
        logDenied: deniedLog({ log }),
      }),
    }),
  )
  const work = (signal: AbortSignal): Promise<void> =>
    lookForFloods({ ...options, system, connections, pauses, sensorOfClient, onFailure }, signal)
  opened.use(
    await SingleDuty.open({ nc, holder: options.holder, log, stop, task: tasks.flood, work }),
  )
  const closing = opened.move()
  return { pausedForMs: pauses.leftMs, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

type FloodOptions = CalloutOptions & {
  /** Signed in to the system account, which sees every connection. */
  readonly system: NatsConnection
  readonly connections: Connections
  readonly pauses: Pauses
  readonly sensorOfClient: ReturnType<typeof indexClientIds>
  readonly onFailure: (error: unknown) => void
}

async function lookForFloods(options: FloodOptions, stop: AbortSignal): Promise<void> {
  const {
    nc,
    system,
    connections,
    pauses,
    sensorOfClient,
    rules,
    book,
    seen,
    metrics,
    guard,
    log,
  } = options
  const ledger = createFloodLedger({
    boundsOf: (user) => boundsOf(user, options),
    onFlood: (id) => {
      const untilMs = Date.now() + pauseMs
      log.warn({ sensor: id, forSeconds: pauseMs / 1_000 }, 'a sensor floods: it must pause')
      pauses.pause(id, untilMs)
      if (rules.parse(id) !== undefined) seen.paused(id, untilMs)
    },
    nowMs: Date.now,
  })
  using _pushes = followSpent(nc, guard, ledger.charge)
  // the servers do not count subscriptions, but write a line for each that they deny
  using _denials = followDenied(nc, guard, (client, count) => {
    const id = sensorOfClient(client)
    if (id !== undefined) ledger.charge(id, count)
  })
  await watchFloods({
    connections,
    isSensor: (user) => boundsOf(user, options) !== undefined,
    ledger,
    onEnd: (listener) => followEnds(system, guard, listener),
    hasOutlived: ({ user, since }) =>
      (rules.parse(user) === undefined ? options.applications : book).hasOutlived(
        user,
        Date.parse(since),
      ),
    onOutlived: ({ user }) => {
      metrics.closed.inc({ why: 'outlived' })
      log.info({ sensor: user }, 'a connection was closed: its secret is no longer good')
    },
    onTooMany: ({ user }) => {
      metrics.closed.inc({ why: 'too_many' })
      log.debug({ sensor: user }, 'a sensor has too many connections: the oldest is closed')
    },
    onFailure: options.onFailure,
    stop,
    ...(options.floodEveryMs === undefined ? {} : { everyMs: options.floodEveryMs }),
  })
}

/** A process of ours is another user of the same servers: no application is it, whatever its name. */
function gatewayOf(
  user: string,
  { applications }: Pick<CalloutOptions, 'applications'>,
): Application | undefined {
  const application = isOwnUser(user) ? undefined : applications.get(user)
  return application?.kind === 'gateway' ? application : undefined
}

function boundsOf(user: string, options: CalloutOptions) {
  const id = options.rules.parse(user)
  if (id !== undefined) return options.sensors.get(id)?.flood ?? 'default'
  return gatewayOf(user, options) && ofApplication
}
