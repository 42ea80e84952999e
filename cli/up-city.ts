/**
 * A whole city on one machine: NATS, our processes, and sensors that are simulated where asked.
 *
 * Opened in the order in which one needs another (folder, NATS, account, chain, processes,
 * sensors, `ready.json`) and closed in the opposite one, so a process never outlives what it leans on.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { openDataFolder } from '../runtime/data-folder.ts'
import { MustAct } from '../runtime/exit.ts'
import { freePort } from '../runtime/free-port.ts'
import { type Kept, keepAlive, type Service } from '../runtime/keep-alive.ts'
import { type Logger, standardOutput } from '../runtime/log.ts'
import { connectNats } from '../runtime/nats.ts'
import {
  forgetRunningInstance,
  type RunningInstance,
  writeRunningInstance,
} from '../runtime/running-instance.ts'
import type { Environment } from '../runtime/settings.ts'
import { stopped } from '../runtime/stop-signal.ts'
import { natsService } from './up-nats.ts'
import { type ProcessService, type ProcessSpec, processService } from './up-process.ts'
import { type RoomWatch, watchRoom } from './up-room.ts'

export type Identity = Pick<RunningInstance, 'account' | 'key'>

/** The chain that the city is anchored to. */
export type CityChain = {
  readonly rpc: string
  readonly contract: string
  /** What the anchor process is told besides. */
  readonly env: Environment
  readonly anchor: ProcessSpec
}

type ChainOpening = {
  readonly nats: NatsConnection
  /** Keeps a chain of our own alive. */
  readonly keep: (service: Service) => Promise<void>
}

export type CityOptions = {
  readonly dataFolder: string
  /** Somebody else's NATS; undefined: our own. */
  readonly natsUrl: string | undefined
  readonly natsCreds: string | undefined
  /** Of our own NATS. 0: any free one; undefined: the one of the last start. */
  readonly natsPort?: number | undefined
  /** 0: any free one. */
  readonly apiPort: number
  /** 0: any free one; undefined: there is no dashboard among the processes. */
  readonly dashboardPort?: number
  /** Started one after the other; the next one when the former is ready. */
  readonly processes: readonly ProcessSpec[]
  /** Makes, or finds, the account and key that the city is shown with. */
  readonly identify: (nats: NatsConnection) => Promise<Identity>
  /** Finds, or starts, the chain; undefined: nothing is anchored. */
  readonly openChain?: (opening: ChainOpening) => Promise<CityChain | undefined>
  readonly env: Environment
  readonly log: Logger
  readonly note: (line: string) => void
  readonly stop: AbortSignal
}

export type City = AsyncDisposable & {
  readonly instance: RunningInstance
  readonly kept: readonly Kept[]
  /** Resolves when asked to stop. @throws MustAct when something cannot be kept alive */
  readonly untilStop: () => Promise<void>
}

/** A process that is not ready by then never will be without a person. */
const readyWithinMs = 120_000

/** @throws MustAct in one line; an `AbortError` where it is stopped half-way */
export async function openCity(options: CityOptions): Promise<City> {
  const { dataFolder, apiPort, processes, env, log, stop } = options
  await using opened = new AsyncDisposableStack()
  opened.use(openDataFolder(dataFolder))
  forgetRunningInstance(dataFolder)
  const port = await freePort(apiPort, 'AIRPROOF_API_PORT')
  const dashboard = await dashboardOf(options, `http://127.0.0.1:${port}`)

  const kept: Kept[] = []
  const pids = (): Record<string, number> =>
    Object.fromEntries(kept.map((one) => [one.name, one.pid()]))
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let announce = (): void => undefined
  const keep = async (service: Service): Promise<void> => {
    const one = opened.use(await keepAlive(service, { log, onRestart: () => announce() }))
    one.failed.catch(failed.reject)
    kept.push(one)
  }
  const restartNats = async (): Promise<void> =>
    await kept.find(({ name }) => name === 'nats-server')?.restart()
  const room = opened.use(watchRoom({ folder: dataFolder, log, restart: restartNats }))

  const natsUrl = options.natsUrl ?? (await startNats(options, { keep, room }))
  const { identity, chain } = await prepare(natsUrl, options, keep)
  const childEnv = {
    ...env,
    ...chain?.env,
    AIRPROOF_DATA: dataFolder,
    AIRPROOF_API_PORT: String(port),
    ...dashboard?.env,
    NATS_URL: natsUrl,
  }
  const output = standardOutput()
  for (const spec of [...(chain ? [chain.anchor] : []), ...processes]) {
    const service = processService({ ...spec, env: childEnv, log, output })
    await keep(service)
    await Promise.race([untilReady(service, stop), failed.promise])
  }
  const instance = (): RunningInstance => ({
    api: `http://127.0.0.1:${port}`,
    ...(dashboard ? { dashboard: dashboard.url } : {}),
    nats: natsUrl,
    ...(chain ? { rpc: chain.rpc, contract: chain.contract } : {}),
    ...identity,
    pids: { up: process.pid, ...pids() },
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
    kept,
    untilStop: () => Promise.race([stopped(stop), failed.promise]),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
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

async function startNats(
  { dataFolder, natsPort: port, env, log, note }: CityOptions,
  { keep, room }: { keep: (service: Service) => Promise<void>; room: RoomWatch },
): Promise<string> {
  const onNoRoom = room.noRoom
  const service = await natsService({ dataFolder, port, onNoRoom, env, log, note })
  await keep(service)
  return service.url
}

async function prepare(
  natsUrl: string,
  { natsCreds, identify, openChain, stop, log }: CityOptions,
  keep: (service: Service) => Promise<void>,
): Promise<{ readonly identity: Identity; readonly chain: CityChain | undefined }> {
  await using resources = new AsyncDisposableStack()
  const nats = await connectNats({ natsUrl, natsCreds }, { name: 'airproof up', log, stop })
  resources.defer(() => nats.close())
  const identity = await identify(nats)
  return { identity, chain: await openChain?.({ nats, keep }) }
}

async function untilReady({ name, whyNotReady }: ProcessService, stop: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs
  for (;;) {
    const why = await whyNotReady()
    if (why === undefined) return
    if (performance.now() > deadlineMs)
      throw new MustAct(`${name} is not ready after ${readyWithinMs / 1_000} s: ${why}`)
    await wait(100, undefined, { signal: stop })
  }
}
