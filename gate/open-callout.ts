/**
 * The part of the gate that stands between sensors and a NATS server of ours: judges sign-ins,
 * ends connections that must not go on, and tells who is connected.
 */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorIdRules } from '../core/air/sensor-id.ts'
import { topicsOf } from '../core/device-topics.ts'
import type { Logger } from '../runtime/log.ts'
import { leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import type { WatchedBucket } from '../runtime/nats/watched-bucket.ts'
import type { SharedConfig } from '../runtime/process/config.ts'
import type { RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { alivePrefixes, tasks } from '../schemas/system-keys.ts'
import { sharedCatchUp } from './callout/catch-up.ts'
import { deniedLog } from './callout/denied-log.ts'
import { createDoor } from './callout/door.ts'
import { openJwtSigner } from './callout/nats-jwt.ts'
import { recentSignIns } from './callout/recent-sign-ins.ts'
import { openResponder } from './callout/responder.ts'
import { indexClientIds } from './client-ids.ts'
import type { CalloutConfig } from './config.ts'
import { answerConnections } from './connections/answer-connections.ts'
import { followEnds, openConnections } from './connections/connections.ts'
import { createFloodLedger } from './connections/flood-ledger.ts'
import { watchFloods } from './connections/flood-watch.ts'
import { followDenied, followServers } from './connections/follow-servers.ts'
import { openKicker } from './connections/kicker.ts'
import { openPauses } from './connections/pauses.ts'
import type { CredentialBook } from './credential-book.ts'
import type { InputGuard } from './input-guard.ts'
import type { GateMetrics } from './metrics.ts'
import type { SeenBook } from './seen-book.ts'
import { followSpent } from './spent.ts'

export type CalloutOptions = {
  /** As user `gate`. */
  readonly nc: NatsConnection
  readonly config: Pick<SharedConfig, 'natsUrl' | 'natsPinFile'>
  readonly callout: CalloutConfig
  readonly rules: SensorIdRules
  readonly sensors: WatchedBucket<RegisteredSensor>
  readonly book: CredentialBook
  readonly seen: SeenBook
  readonly metrics: GateMetrics
  /** Stable over restarts. */
  readonly holder: string
  readonly guard: InputGuard
  readonly log: Logger
  readonly stop: AbortSignal
  readonly floodEveryMs?: number
}

/** A flooding sensor stays out for so long. */
const pauseMs = 60_000

export type Callout = AsyncDisposable & {
  /** How long a sensor that flooded is not let in yet; 0: it is. */
  readonly pausedForMs: (id: string) => number
}

/** Resolves when sensors can sign in. */
export async function openCallout(options: CalloutOptions): Promise<Callout> {
  const { nc, callout, rules, sensors, book, seen, metrics, guard, log, stop } = options
  await using opened = new AsyncDisposableStack()
  const signIn = async (login: CalloutConfig['login'], name: string): Promise<NatsConnection> => {
    const settings = { ...options.config, natsLogin: login }
    const connection = await connectNats(settings, { name, log, stop })
    opened.defer(() => connection.close())
    return connection
  }
  const system = await signIn(callout.system, 'gate (connections)')
  const judging = await signIn(callout.login, 'gate (sign-ins)')
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
  const speakerOf = indexClientIds(sensors)
  opened.use(followServers({ system, nc, rules, speakerOf, seen, metrics, guard }))
  opened.use(answerConnections(nc, connections))
  opened.use(
    await openResponder({
      nc: judging,
      signer: openJwtSigner(callout.seed),
      nowMs: Date.now,
      onError: (error) => guard.failed('sign_in', error),
      judge: createDoor({
        rules,
        book,
        sensorOf: sensors.get,
        catchUp: sharedCatchUp([sensors.barrier, book.barrier]),
        deviceSubjects: ({ device }) => (device === undefined ? [] : topicsOf(device)),
        isPaused: (id) => pauses.leftMs(id) > 0,
        seen,
        recent,
        count: (protocol, verdict) => metrics.signIns.inc({ protocol, verdict }),
        tellDenied: deniedLog({ log }),
      }),
    }),
  )
  opened.use(
    await whileHolding(options, async (signal) => {
      const ledger = createFloodLedger({
        boundsOf: (user) => boundsOf(user, options),
        onFlood: (id) => {
          const untilMs = Date.now() + pauseMs
          log.warn({ sensor: id, forSeconds: pauseMs / 1_000 }, 'a sensor floods: it must pause')
          pauses.pause(id, untilMs)
          seen.paused(id, untilMs)
        },
        nowMs: Date.now,
      })
      using _pushes = followSpent(nc, guard, ledger.charge)
      // the servers count no subscription, and write a line for each that they deny
      using _denials = followDenied(nc, guard, (who, count) => {
        const speaker = speakerOf(who)
        if (speaker !== undefined) ledger.charge(speaker, count)
      })
      await watchFloods({
        connections,
        isSensor: (user) => rules.parse(user) !== undefined,
        ledger,
        onEnd: (listener) => followEnds(system, guard, listener),
        hasOutlived: ({ user, since }) => book.hasOutlived(user, Date.parse(since)),
        onOutlived: ({ user }) => {
          metrics.closed.inc({ why: 'outlived' })
          log.info({ sensor: user }, 'a connection was closed: its secret is no longer good')
        },
        onTooMany: ({ user }) => {
          metrics.closed.inc({ why: 'too_many' })
          log.debug({ sensor: user }, 'a sensor has too many connections: the oldest is closed')
        },
        onFailure,
        stop: signal,
        ...(options.floodEveryMs === undefined ? {} : { everyMs: options.floodEveryMs }),
      })
    }),
  )
  const closing = opened.move()
  return { pausedForMs: pauses.leftMs, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

function boundsOf(user: string, { rules, sensors }: CalloutOptions) {
  const id = rules.parse(user)
  return id === undefined ? undefined : (sensors.get(id)?.flood ?? 'default')
}

/**
 * A credential that was revoked, replaced at once or deleted, a sensor that is no more or is
 * another device now: what it has open ends.
 */
function watchChanges(
  { sensors, book }: Pick<CalloutOptions, 'sensors' | 'book'>,
  kick: (id: string) => void,
): () => void {
  const devices = new Map<string, string>()
  const deviceOf = (id: string): string | undefined => {
    const sensor = sensors.get(id)
    return sensor && JSON.stringify(sensor.device ?? null)
  }
  for (const [id] of sensors.entries()) devices.set(id, deviceOf(id) ?? '')
  const known = new Set(book.ids())
  const stopBook = book.onChange((id) => {
    if (known.has(id) && !book.mayStay(id)) kick(id)
    if (book.has(id)) known.add(id)
    else known.delete(id)
  })
  const stopSensors = sensors.onChange(({ key: id }) => {
    const [before, now] = [devices.get(id), deviceOf(id)]
    if (before !== undefined && before !== now) kick(id)
    if (now === undefined) devices.delete(id)
    else devices.set(id, now)
  })
  return () => {
    stopBook()
    stopSensors()
  }
}

/** Of several gates one looks for floods. */
async function whileHolding(
  { nc, holder, log, stop }: CalloutOptions,
  work: (stop: AbortSignal) => Promise<void>,
): Promise<AsyncDisposable> {
  let holding: AbortController | undefined
  let working: Promise<void> = Promise.resolve()
  const letGo = async (): Promise<void> => {
    holding?.abort()
    holding = undefined
    await working
  }
  const ending = new AbortController()
  const leases = openLeases({
    nc,
    kv: await new Kvm(nc).open(buckets.leases),
    holder,
    aliveAs: alivePrefixes.gate,
    shared: [],
    single: [tasks.flood],
    onHeld: () => {
      if (ending.signal.aborted) return
      holding = new AbortController()
      working = work(AbortSignal.any([holding.signal, stop]))
    },
    onRelease: letGo,
    onLost: () => void letGo(),
    onFailure: (error) => log.debug({ err: error }, 'leases: trying again'),
  })
  let round = leases.round()
  const timer = setInterval(() => {
    round = round.then(() => leases.round())
  }, leaseRoundMs)
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      ending.abort()
      await round
      await letGo()
      await leases.releaseAll()
    },
  }
}
