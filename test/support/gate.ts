/** A real nats-server that sensors sign in to, and its gate. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KV, Kvm } from '@nats-io/kv'
import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node'
import { placeOf } from '../../cli/access/places.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { run as gateMain } from '../../gate/main.ts'
import { issueCredential } from '../../operate/sensor-credentials.ts'
import { createSensor, newEntry, openRegistry } from '../../operate/sensor-registry.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import {
  newNatsAccess,
  passwordFileOf,
  usersFileOf,
  writeNatsAccess,
} from '../../runtime/engines/nats-access.ts'
import type { Denied } from '../../runtime/engines/nats-lines.ts'
import { type NatsServer, startNatsServer } from '../../runtime/engines/nats-server.ts'
import { isOwnUser, type OwnUser } from '../../runtime/engines/nats-users.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import type { NatsLogin } from '../../runtime/nats/nats-trouble.ts'
import type { StreamOptions } from '../../runtime/nats/streams/stream-table.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import { eventually } from './eventually.ts'

export type Guarded = AsyncDisposable & {
  readonly url: string
  /** Its own folder, deleted with it. */
  readonly folder: string
  readonly mqttUrl: string
  readonly server: NatsServer
  readonly denied: readonly Denied[]
  /** Lines of the server's log that a person should see. */
  readonly printed: readonly string[]
  /** How often it reported a full disk. */
  readonly noRoom: () => number
  /** The password is in a file of `folder`, which is one of `airproof access`. */
  readonly login: (user: OwnUser) => Required<NatsLogin>
  /** As one of our own processes. */
  readonly as: (user: OwnUser) => Promise<NatsConnection>
  /** The operator's connection, closed with the rest. */
  readonly nc: NatsConnection
  readonly credentials: KV
  /** Registers it and gives it a credential. */
  readonly addSensor: (id: string, more?: Partial<SensorEntry>) => Promise<string>
  /** Connects as a sensor; closed with the rest. Rejects at the first refusal. */
  readonly sensor: (
    id: string,
    secret: string,
    options?: ConnectionOptions,
  ) => Promise<NatsConnection>
  /** The environment of a gate process for this server. */
  readonly gateEnv: Readonly<Record<string, string>>
  readonly startGate: (settings?: Readonly<Record<string, string>>) => Promise<TestGate>
}

export type TestGate = AsyncDisposable & {
  readonly adminUrl: string
  readonly metric: (name: string, labels?: string) => Promise<number>
}

type Options = StreamOptions & {
  /** Our own processes may be denied something; otherwise that is a failure. */
  readonly mayBeDenied?: boolean
  readonly syncAlways?: boolean
  readonly maxConnections?: number
  /** Where its folder is; that of temporary files by default. */
  readonly within?: string
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
}

export async function guardedNats({
  maxConnections = 20_000,
  syncAlways = false,
  mayBeDenied = false,
  within = tmpdir(),
  tls,
  ...streams
}: Options = {}): Promise<Guarded> {
  await using opened = new AsyncDisposableStack()
  const env = environment()
  const folder = mkdtempSync(join(within, 'airproof-gate-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const access = newNatsAccess()
  const place = placeOf(folder)
  writeNatsAccess(place.accessFile, access)
  place.write(access)
  const [port, mqttPort] = [await freePort(), await freePort()]
  const denied: Denied[] = []
  const printed: string[] = []
  let noRoom = 0
  const server = await startNatsServer({
    engine: await findNatsServer({ env }),
    folder,
    port,
    env,
    syncAlways,
    door: { users: usersFileOf(access), mqttPort, maxConnections, ...(tls && { tls }) },
    onDenied: (one) => void denied.push(one),
    onNoRoom: () => {
      noRoom++
    },
    log: openLog({
      name: 'nats-server',
      level: 'warn',
      to: { write: (line) => void printed.push(line) },
    }),
  })
  opened.defer(() => {
    const ours = denied.filter(({ who }) => isOwnUser(who))
    if (!mayBeDenied && ours.length > 0)
      throw new Error(`our own processes were denied: ${JSON.stringify(ours.slice(0, 5))}`)
  })
  opened.defer(async () => void (await server.stop()))
  let closing: AsyncDisposableStack | undefined
  const stack = (): AsyncDisposableStack => closing ?? opened
  const pin = tls && { natsPinFile: tls.certFile }
  const login: Guarded['login'] = (user) => ({
    user,
    password: access.passwords[user],
    file: join(folder, passwordFileOf(user)),
  })
  const as = async (user: OwnUser): Promise<NatsConnection> => {
    const settings = { natsUrl: server.url, natsLogin: login(user), ...pin }
    const nc = await connectNats(settings, { name: user, once: true })
    stack().defer(() => nc.close())
    return nc
  }
  const nc = await as('operator')
  await ensureStreams(nc, streams)
  const registry = await openRegistry(nc, sensorIdRules())
  const credentials = await new Kvm(nc).open(buckets.credentials)

  const gateEnvironment = {
    NATS_URL: server.url,
    NATS_USER: 'gate',
    NATS_PASSWORD_FILE: login('gate').file,
    NATS_CALLOUT_USER: 'callout',
    NATS_CALLOUT_PASSWORD_FILE: login('callout').file,
    NATS_SYSTEM_USER: 'system',
    NATS_SYSTEM_PASSWORD_FILE: login('system').file,
    AIRPROOF_CALLOUT_SEED: access.issuerSeed,
    AIRPROOF_DATA: join(folder, 'gate'),
    AIRPROOF_PUSH_PORT: '0',
    ...(tls && { NATS_PIN_FILE: tls.certFile }),
  }

  const startGate: Guarded['startGate'] = async (settings = {}) => {
    const stop = new AbortController()
    const adminPort = await freePort()
    const gateEnv = { ...gateEnvironment, AIRPROOF_ADMIN_PORT: String(adminPort), ...settings }
    const source = { env: gateEnv, flags: {} }
    const log = openLog({ name: 'gate', level: 'silent' })
    const running = gateMain({
      config: readSharedConfig(source),
      ...source,
      log,
      stop: stop.signal,
    })
    running.catch(() => undefined)
    const adminUrl = `http://127.0.0.1:${adminPort}`
    const get = (path: string): Promise<Response> =>
      fetch(adminUrl + path, { headers: { connection: 'close' } })
    await Promise.race([
      running,
      eventually('the gate is ready', async () => {
        const answer = await get('/ready').catch(() => undefined)
        await answer?.text()
        return answer?.ok
      }),
    ])
    return {
      adminUrl,
      metric: async (name, labels = '') =>
        valueOf(await (await get('/metrics')).text(), name, labels),
      [Symbol.asyncDispose]: async () => {
        stop.abort('test')
        await running
      },
    }
  }
  closing = opened.move()
  const end = closing
  return {
    url: server.url,
    folder,
    mqttUrl: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${mqttPort}`,
    server,
    denied,
    printed,
    noRoom: () => noRoom,
    login,
    as,
    nc,
    credentials,
    addSensor: async (id, more = {}) => {
      const entry = newEntry({
        id,
        area: 'Ikeja',
        lat: 6.6,
        lon: 3.35,
        address: '',
        cadenceSeconds: 60,
        fromMs: 0,
        nowMs: Date.now(),
      })
      await createSensor(registry, { ...entry, ...more })
      return await issueCredential(credentials, id, { nowMs: Date.now() })
    },
    sensor: async (id, secret, options = {}) => {
      const connection = await connect({
        servers: server.url,
        user: id,
        pass: secret,
        inboxPrefix: `_INBOX_${id}`,
        reconnect: false,
        timeout: 15_000,
        ...options,
      })
      end.defer(() => connection.close())
      return connection
    },
    gateEnv: gateEnvironment,
    startGate,
    [Symbol.asyncDispose]: () => end.disposeAsync(),
  }
}

/** The sum of a metric over the lines that have all these labels. */
function valueOf(text: string, name: string, labels: string): number {
  const wanted = labels.split(',').filter(Boolean)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
