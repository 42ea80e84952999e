/**
 * A whole city on one machine: NATS, our processes, and sensors that are simulated where asked.
 *
 * Opened in the order in which one needs another (folder, NATS, account, chain, processes,
 * sensors, `ready.json`) and closed in reverse, so a process never outlives what it depends on.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { reachedAt } from '../../runtime/engines/nats-server.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { TlsFiles } from '../../runtime/http/tls-files.ts'
import { type Logger, openLog } from '../../runtime/log.ts'
import { openDataFolder } from '../../runtime/machine/data-folder.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { keepAlive, type Service, type Supervised } from '../../runtime/machine/keep-alive.ts'
import {
  forgetRunningInstance,
  type RunningInstance,
  writeRunningInstance,
} from '../../runtime/machine/running-instance.ts'
import type { StorePlace } from '../../runtime/machine/store-place.ts'
import { connectNats, type NatsSettings } from '../../runtime/nats/nats.ts'
import type { NatsLogin } from '../../runtime/nats/nats-trouble.ts'
import { stopped } from '../../runtime/process/stop-signal.ts'
import type { Environment } from '../../runtime/settings.ts'
import { ourVersion } from '../../runtime/version.ts'
import { takenChosenPorts } from '../shell/chosen-ports.ts'
import { adminPorts, untilLeft } from './admin-ports.ts'
import { openDenials } from './denials.ts'
import { keptPort } from './kept-port.ts'
import { loginFor, type OwnNats, ownNats } from './nats.ts'
import type { UpOutput } from './output.ts'
import { type ProcessService, type ProcessSpec, processService } from './process.ts'
import { watchRoom } from './room.ts'
import { storeEnvironmentOf } from './store-rights.ts'

export type Identity = Pick<RunningInstance, 'account' | 'key'>

/** The chain that the city is anchored to. */
export type CityChain = {
  readonly rpc: string
  readonly contract: string
  /** Further settings of the anchor process. */
  readonly env: Environment
  readonly anchor: ProcessSpec
}

type ChainOpening = {
  readonly nats: NatsConnection
  /** Keeps a chain of our own alive. */
  readonly keep: (service: Service) => Promise<unknown>
}

export type CityOptions = {
  readonly dataFolder: string
  /** Another NATS; undefined: our own. */
  readonly natsUrl: string | undefined
  readonly natsCreds: string | undefined
  /** The user to sign in to another NATS with. */
  readonly natsLogin?: NatsLogin | undefined
  /** Of our own NATS. 0: any free port; undefined: that of the last start. */
  readonly natsPort?: number | undefined
  /** The same for its MQTT listener, and for the gate's HTTP. */
  readonly mqttPort?: number | undefined
  readonly pushPort?: number | undefined
  /** The first of the admin ports of our processes; 0 and undefined as above. */
  readonly adminPort?: number | undefined
  /** The address that everything listens on; by default only this machine reaches it. */
  readonly listen?: string | undefined
  /** Of our own NATS and of the gate's HTTP. */
  readonly tls?: TlsFiles | undefined
  /** 0: any free port. */
  readonly apiPort: number
  /** 0: any free port; undefined: the dashboard is not among the processes. */
  readonly dashboardPort?: number
  /** Where the pipeline keeps readings. */
  readonly store?: StorePlace
  /** Started one after the other; the next one when the former is ready. */
  readonly processes: readonly ProcessSpec[]
  /** Finds or makes the account and key that the city is shown with. */
  readonly identify: (nats: NatsConnection) => Promise<Identity>
  /** Finds or starts the chain; undefined: nothing is anchored. */
  readonly openChain?: (opening: ChainOpening) => Promise<CityChain | undefined>
  readonly env: Environment
  /** Made with `output`. */
  readonly log: Logger
  readonly output: Pick<UpOutput, 'log' | 'progress'>
  readonly stop: AbortSignal
}

export type City = AsyncDisposable & {
  readonly instance: RunningInstance
  /** Signed in as the operator. */
  readonly nats: NatsConnection
  readonly running: readonly Supervised[]
  /** Resolves when asked to stop. @throws MustAct when something cannot be kept alive */
  readonly untilStop: () => Promise<void>
}

/** What taking readings needs: any other process that keeps ending does not end the rest. */
const vital: ReadonlySet<string> = new Set(['nats-server', 'pipeline'])
const loopback = '127.0.0.1'
/** A process that is not ready after this time will not be without a person's help. */
const readyWithinMs = 120_000

/** @throws MustAct in one line; an `AbortError` where it is stopped half-way */
export async function openCity(options: CityOptions): Promise<City> {
  const { dataFolder, processes, env, log, output, stop } = options
  const { progress } = output
  const { note } = progress
  await using opened = new AsyncDisposableStack()
  opened.use(openDataFolder(dataFolder))
  forgetRunningInstance(dataFolder)
  const host = options.listen ?? loopback
  await refuseTakenPorts(options)
  const port = await freePort(options.apiPort, 'AIRPROOF_API_PORT')
  const dashboard = await dashboardOf(options, `http://127.0.0.1:${port}`)

  const running: Supervised[] = []
  const pids = (): Record<string, number> =>
    Object.fromEntries(running.map((alive) => [alive.name, alive.pid()]))
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let announce = (): void => undefined
  const keep = async (service: Service): Promise<Supervised> => {
    const isVital = vital.has(service.name)
    const onRestart = (): void => announce()
    const alive = opened.use(await keepAlive(service, { log, isVital, onRestart }))
    alive.failed.catch(failed.reject)
    running.push(alive)
    return alive
  }
  const restartNats = async (): Promise<void> =>
    await running.find(({ name }) => name === 'nats-server')?.restart()
  const room = opened.use(watchRoom({ folder: dataFolder, log, restart: restartNats }))

  const denials = opened.use(openDenials({ log }))
  let why: string | undefined
  const because = (): string | undefined => why
  progress.starts('NATS', because)
  const own =
    options.natsUrl === undefined
      ? await ownNats({
          ...options,
          host,
          port: options.natsPort,
          mqttPort: options.mqttPort,
          tls: options.tls,
          log: openLog({ name: 'nats-server', level: log.level, to: output.log }),
          note,
          onNoRoom: room.noRoom,
          onDenied: denials.note,
        })
      : undefined
  if (own) await keep(own.service)
  const settings = settingsOf(own, options)
  const onTrouble = (words: string | undefined): void => {
    why = words
  }
  const nats = await connectNats({ ...settings, onTrouble }, { name: 'airproof up', log, stop })
  opened.defer(() => nats.close())
  denials.reportTo(nats)
  const identity = await options.identify(nats)
  progress.isUp('NATS')
  if (options.openChain) progress.starts('chain')
  const chain = await options.openChain?.({ nats, keep })
  if (chain) progress.isUp('chain')
  const push = processes.some(({ name }) => name === 'gate')
    ? await pushOf({ ...options, note }, host)
    : undefined
  const childEnv = {
    ...env,
    ...chain?.env,
    AIRPROOF_DATA: dataFolder,
    AIRPROOF_API_PORT: String(port),
    ...hostsFor(host),
    ...dashboard?.env,
    ...push?.env,
    ...(own?.pinFile === undefined ? {} : { NATS_PIN_FILE: own.pinFile }),
    NATS_URL: settings.natsUrl,
  }
  const services: ProcessService[] = []
  const adminPort = await adminPorts({ dataFolder, chosen: options.adminPort, note })
  for (const spec of [...(chain ? [chain.anchor] : []), ...processes]) {
    const login = own ? loginFor(spec.name, own.access) : {}
    const to = { log, output: output.log }
    const specEnv = { ...childEnv, ...login, ...storeEnvironmentOf(spec.name, childEnv) }
    const started = { ...spec, adminPort: adminPort(spec.name), env: specEnv }
    const service = processService({ ...started, ...to })
    services.push(service)
    onTrouble(undefined)
    progress.starts(spec.name, because)
    const supervised = await keep(service)
    const isReady = await Promise.race([
      untilReady(service, supervised, { log, stop, onWait: onTrouble }),
      failed.promise,
    ])
    if (isReady) progress.isUp(spec.name)
  }
  const instance = (): RunningInstance => ({
    version: ourVersion(),
    api: `http://${reachedAt(host)}:${port}`,
    ...(dashboard ? { dashboard: dashboard.url } : {}),
    nats: settings.natsUrl,
    ...(own && { nats_operator: operatorOf(own), mqtt: own.mqtt }),
    ...(own?.pinFile === undefined ? {} : { nats_pin: own.pinFile }),
    ...(push && { push: push.url }),
    ...(options.store && { store: options.store }),
    ...(chain ? { rpc: chain.rpc, contract: chain.contract } : {}),
    ...identity,
    pids: { up: process.pid, ...pids() },
    admin: Object.fromEntries(
      services.flatMap(({ name, admin }) => {
        const url = admin()
        return url === undefined ? [] : [[name, url]]
      }),
    ),
    ...degradedOf(running),
  })
  opened.defer(() => {
    announce = () => undefined
    forgetRunningInstance(dataFolder)
  })
  // Whatever is started again has another pid.
  announce = () => writeRunningInstance(dataFolder, instance())
  announce()

  const closing = opened.move()
  return {
    instance: instance(),
    nats,
    running,
    untilStop: () => Promise.race([stopped(stop), failed.promise]),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** All chosen ports in one error, so that it does not take a start for each. */
async function refuseTakenPorts(options: CityOptions): Promise<void> {
  await untilLeft(options.dataFolder)
  const hasOwnServer = existsSync(join(options.dataFolder, 'nats', 'nats-server.pid'))
  const faults = await takenChosenPorts({
    api: options.apiPort,
    dashboard: options.dashboardPort,
    push: options.pushPort,
    // our own server, left by a killed run, has them: it is ended first
    nats: hasOwnServer ? 0 : options.natsPort,
    mqtt: hasOwnServer ? 0 : options.mqttPort,
    admin: options.adminPort,
  })
  if (faults.length > 0) throw new MustAct(faults.join('\n'))
}

async function dashboardOf(
  { dashboardPort }: CityOptions,
  apiUrl: string,
): Promise<{ readonly url: string; readonly env: Environment } | undefined> {
  if (dashboardPort === undefined) return undefined
  const port = String(await freePort(dashboardPort, 'AIRPROOF_DASHBOARD_PORT'))
  return {
    url: `http://127.0.0.1:${port}`,
    env: { AIRPROOF_DASHBOARD_PORT: port, AIRPROOF_API_URL: apiUrl },
  }
}

/** Where the gate listens for HTTP pushes. */
const usualPushPort = 8082

async function pushOf(
  {
    dataFolder,
    pushPort: chosen,
    tls,
    note,
  }: CityOptions & { readonly note: (line: string) => void },
  host: string,
): Promise<{ readonly url: string; readonly env: Environment }> {
  const setting = 'AIRPROOF_PUSH_PORT'
  const port = String(
    await keptPort({ dataFolder, name: 'push', setting, chosen, first: usualPushPort, note }),
  )
  return {
    url: `${tls ? 'https' : 'http'}://${reachedAt(host)}:${port}`,
    env: { AIRPROOF_PUSH_PORT: port },
  }
}

const hostsFor = (host: string): Environment =>
  host === loopback
    ? {}
    : { AIRPROOF_API_HOST: host, AIRPROOF_DASHBOARD_HOST: host, AIRPROOF_PUSH_HOST: host }

const operatorOf = ({ access }: OwnNats): NatsLogin => access.login('operator')

/** Our own sign-in: as the operator of our own NATS, with the configured user at another one. */
function settingsOf(
  own: OwnNats | undefined,
  { natsUrl = '', natsCreds, natsLogin }: CityOptions,
): NatsSettings & { readonly natsUrl: string } {
  if (own === undefined) return { natsUrl, natsCreds, natsLogin }
  return { natsUrl: own.url, natsLogin: operatorOf(own), natsPinFile: own.pinFile }
}

type Watching = {
  readonly log: Logger
  readonly stop: AbortSignal
  readonly onWait: (why: string) => void
}

/**
 * The others do not wait for a process that is not vital and keeps ending, or is never ready.
 * @returns whether it is ready
 */
async function untilReady(
  { name, whyNotReady }: ProcessService,
  { degraded }: Pick<Supervised, 'degraded'>,
  { log, stop, onWait }: Watching,
): Promise<boolean> {
  const deadlineMs = performance.now() + readyWithinMs
  for (;;) {
    const why = await whyNotReady()
    if (why === undefined) return true
    if (degraded() !== undefined) return false
    onWait(why)
    if (performance.now() > deadlineMs) {
      const late = `${name} is not ready after ${readyWithinMs / 1_000} s: ${why}`
      if (vital.has(name)) throw new MustAct(late)
      log.error({ service: name }, `${late}. The rest continues without it`)
      return false
    }
    await wait(100, undefined, { signal: stop })
  }
}

function degradedOf(running: readonly Supervised[]): Pick<RunningInstance, 'degraded'> {
  const reasons = running.flatMap(({ name, degraded }) => {
    const why = degraded()
    return why === undefined ? [] : [[name, why] as const]
  })
  return reasons.length === 0 ? {} : { degraded: Object.fromEntries(reasons) }
}
