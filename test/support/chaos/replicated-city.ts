/**
 * A city on three NATS servers and InfluxDB as docs/growing.md describes it: several of each process that
 * shares its work, one anchor, and sensors that sign in through the gates.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { ensureKeyFile } from '../../../anchor/deploy/key-file.ts'
import { command as anchorCommand } from '../../../cli/anchor/anchor.ts'
import type { Command } from '../../../cli/shell/command.ts'
import { command as streamsCommand } from '../../../cli/streams.ts'
import type { SensorId } from '../../../core/air/sensor-id.ts'
import { createAccount, createKey, openAccountBook } from '../../../operate/account-book.ts'
import { issueCredential } from '../../../operate/sensor-credentials.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { newSecretKey } from '../../../runtime/secrets/seal-secret.ts'
import type { Environment } from '../../../runtime/settings.ts'
import { buckets } from '../../../schemas/subjects.ts'
import type { Store } from '../../../store/store.ts'
import { testAnvil } from '../anvil.ts'
import { eventually } from '../eventually.ts'
import { testInflux } from '../influx.ts'
import { runCommand } from '../run-command.ts'
import { writeTinyPages } from '../tiny-pages.ts'
import { cityOf, registerCity } from './city.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type Service, superviseService } from './service.ts'

export const patiently = { everyMs: 250 }

export type ReplicatedCity = AsyncDisposable & {
  readonly cluster: Cluster
  /** The operator's. */
  readonly nc: NatsConnection
  readonly ids: readonly SensorId[]
  /** Each sensor's own connection. */
  readonly connectionOf: (sensor: SensorId) => NatsConnection
  readonly services: readonly Service[]
  readonly apis: readonly string[]
  readonly dashboards: readonly string[]
  readonly newKey: (name: string, tier: 'free' | 'premium') => Promise<string>
  /** Another reader of the store. */
  readonly store: Store
  /** The settings of the operator's commands. */
  readonly operator: Environment
}

type Options = {
  readonly folder: string
  readonly sensors: number
  /** Of each process that shares its work. */
  readonly perKind: number
  readonly env: Environment
}

export async function startReplicatedCity({
  folder,
  sensors,
  perKind,
  env: more,
}: Options): Promise<ReplicatedCity> {
  await using opened = new AsyncDisposableStack()
  const influx = opened.use(await testInflux())
  const bucket = await influx.newBucket()
  const anvil = opened.use(await testAnvil())
  const cluster = opened.use(await startCluster(folder))
  const inFile = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    return file
  }
  const secret = { AIRPROOF_SECRET_FILE: inFile('webhook-key', newSecretKey()) }
  const store = {
    INFLUX_URL: influx.url,
    INFLUX_TOKEN_FILE: inFile('influx-token', bucket.token),
    INFLUX_ORG: bucket.org,
    INFLUX_BUCKET: bucket.bucket,
  }
  const anchorKey = join(folder, 'anchor-key')
  const { address } = ensureKeyFile(anchorKey)
  await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  const chain = { CHAIN_RPC_URL: anvil.url, ANCHOR_KEY_FILE: anchorKey }
  const operator = { ...cluster.signIn('operator'), ...secret, ...store, ...chain, ...more }

  // a new cluster takes a moment to choose its leaders
  const untilDone = (command: Command, words: readonly string[], env: Environment) =>
    eventually(
      `airproof ${words.join(' ')} is done`,
      async () => (await runCommand(command, { words, env })).code === 0,
      patiently,
    )
  await untilDone(streamsCommand, [], {
    ...operator,
    AIRPROOF_REPLICAS: '3',
    AIRPROOF_DATA: join(folder, 'operator'),
  })
  await untilDone(anchorCommand, ['deploy'], {
    ...cluster.signIn('anchor'),
    ...chain,
    AIRPROOF_DATA: join(folder, 'deploy'),
  })
  const nc = await cluster.connect('operator')
  const ids = cityOf(sensors)
  await registerCity(nc, ids)
  const credentials = await new Kvm(nc).open(buckets.credentials)
  const secrets = new Map<SensorId, string>()
  for (const id of ids)
    secrets.set(id, await issueCredential(credentials, id, { nowMs: Date.now() }))

  const pages = join(folder, 'pages')
  writeTinyPages(pages)
  const services: Service[] = []
  const start = async (name: Service['name'], env: Environment): Promise<void> => {
    services.push(opened.use(await superviseService({ name, within: folder, env })))
  }
  const [apis, dashboards]: [string[], string[]] = [[], []]
  const signedIn = (user: Parameters<Cluster['signIn']>[0]): Environment => ({
    ...cluster.signIn(user),
    ...more,
  })
  for (let i = 0; i < perKind; i++) {
    const [api, dashboard, push] = [await freePort(), await freePort(), await freePort()]
    apis.push(`http://127.0.0.1:${api}`)
    dashboards.push(`http://127.0.0.1:${dashboard}`)
    await start('pipeline', { ...signedIn('pipeline'), ...store })
    await start('gate', {
      ...signedIn('gate'),
      NATS_CALLOUT_USER: 'callout',
      NATS_CALLOUT_PASSWORD_FILE: cluster.signIn('callout')['NATS_PASSWORD_FILE'],
      NATS_SYSTEM_USER: 'system',
      NATS_SYSTEM_PASSWORD_FILE: cluster.signIn('system')['NATS_PASSWORD_FILE'],
      AIRPROOF_CALLOUT_SEED_FILE: join(cluster.secrets, 'callout-seed'),
      AIRPROOF_PUSH_PORT: String(push),
    })
    await start('notifier', { ...signedIn('notifier'), ...secret })
    await start('api', {
      ...signedIn('api'),
      ...store,
      ...secret,
      AIRPROOF_API_PORT: String(api),
    })
    await start('dashboard', {
      ...signedIn('dashboard'),
      ...secret,
      AIRPROOF_API_URL: `http://127.0.0.1:${api}`,
      AIRPROOF_DASHBOARD_PORT: String(dashboard),
      AIRPROOF_DASHBOARD_PAGES: pages,
    })
  }
  await start('anchor', { ...signedIn('anchor'), ...chain })

  for (const service of services)
    await eventually(`${service.name} is ready`, service.isReady, patiently)
  const connections = new Map<SensorId, NatsConnection>()
  for (const [id, pass] of secrets) {
    const connection = await connect({
      servers: cluster.servers.map(({ url }) => url),
      user: id,
      pass,
      inboxPrefix: `_INBOX_${id}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      pingInterval: 5_000,
      // no gate judges it, or its server has no other
      ignoreAuthErrorAbort: true,
      waitOnFirstConnect: true,
    })
    opened.defer(() => connection.close())
    connections.set(id, connection)
  }
  const book = await openAccountBook(nc)
  const newKey: ReplicatedCity['newKey'] = async (name, tier) => {
    const nowMs = Date.now()
    const email = `${name}@example.org`
    const { id } = await createAccount(book, { email, name, tier, nowMs, isConfirmed: true })
    return (await createKey(book, { account: id, name, nowMs })).key
  }
  const reader = opened.use(await bucket.open())
  const all = opened.move()
  return {
    cluster,
    nc,
    ids,
    connectionOf: (sensor) => {
      const connection = connections.get(sensor)
      if (connection === undefined) throw new RangeError(`${sensor} is not of this city`)
      return connection
    },
    services,
    apis,
    dashboards,
    newKey,
    store: reader,
    operator,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
