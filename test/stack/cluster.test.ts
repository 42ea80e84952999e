/** Three servers of a cluster: each thing is kept by all three. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConsumerMessages, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { streamsCheck } from '../../cli/doctor/nats-checks.ts'
import { openWorld } from '../../cli/doctor/open-world.ts'
import { runChecks } from '../../cli/doctor/run-checks.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { openGauges, watchBehind } from '../../pipeline/gauges.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { newNatsAccess, usersFileOf } from '../../runtime/engines/nats-access.ts'
import { type NatsServer, startNatsServer } from '../../runtime/engines/nats-server.ts'
import { type OwnUser, usersConf } from '../../runtime/engines/nats-users.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import { Lifetime } from '../../runtime/process/lifetime.ts'
import {
  buckets,
  rawStream,
  readingsStream,
  readingsSubject,
  spokenSubject,
} from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { sumOf } from '../support/metrics-text.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensor = 'NGR-LOS-YAB-001' as SensorId
const followLogOf = async (nc: NatsConnection): Promise<ConsumerMessages> =>
  await (await jetstream(nc).consumers.get(readingsStream)).consume()
const raw = rawStream(partitionOf(sensor))

const patiently = { everyMs: 250 }
/** What is asked while a cluster chooses its leaders gets no answer, and is asked again. */
const orAgain =
  <T>(work: () => Promise<T>) =>
  (): Promise<T | undefined> =>
    work().catch(() => undefined)

/** What a pipeline with one partition says of the cluster. */
function awayGauge(nc: NatsConnection): () => Promise<number> {
  const registry = new Registry()
  const stop = new AbortController()
  const watched = {
    nc,
    partitions: {
      positions: () => [{ partition: partitionOf(sensor), rawLast: 0, lastSeq: 0, n: 0, late: 0 }],
    },
    writer: { waitingRows: () => 0, position: () => 0 },
    life: new Lifetime(stop.signal),
    logger: { debug: () => undefined },
  }
  registry.setDefaultLabels({ process: 'pipeline' })
  openGauges(registry, { ...watched, behind: watchBehind(watched), nowMs: Date.now })
  void nc.closed().then(() => stop.abort())
  return async () => sumOf(await registry.metrics(), 'airproof_nats_servers_away')
}

test('a cluster of three keeps each stream and bucket threefold, and goes on without one server', async () => {
  using folder = temporaryFolder()
  await using servers = new AsyncDisposableStack()
  const env = environment()
  const engine = await findNatsServer({ env })
  const access = newNatsAccess()
  const ports = await Promise.all(Array.from({ length: 3 }, () => freePort()))
  const routes: number[] = []
  for (let i = 0; i < 3; i++) routes.push(await freePort())
  const start = async (port: number, i: number): Promise<NatsServer> => {
    const place = join(folder.path, `n${i}`)
    mkdirSync(place, { recursive: true })
    const config = `
server_name: n${i}
listen: "127.0.0.1:${port}"
max_payload: 1MB
jetstream { store_dir: "${place}/streams", max_file_store: 1TB, sync_interval: 2m }
cluster {
  name: air
  listen: "127.0.0.1:${routes[i]}"
  routes: [ ${routes.map((route) => `"nats://127.0.0.1:${route}"`).join(', ')} ]
}
include "users.conf"
`
    writeFileSync(join(place, 'users.conf'), usersConf(usersFileOf(access)))
    const server = await startNatsServer({ engine, folder: place, port, env, config })
    servers.defer(async () => void (await server.stop()))
    return server
  }
  const started = await Promise.all(ports.map(start))
  await using resources = new AsyncDisposableStack()
  const natsUrl = started.map(({ url }) => url).join(',')
  const signIn = async (user: OwnUser): Promise<NatsConnection> => {
    const natsLogin = { user, password: access.passwords[user] }
    const connection = await connectNats({ natsUrl, natsLogin }, { name: user })
    resources.defer(() => connection.close())
    return connection
  }
  const nc = await signIn('operator')
  const makeStreams = async (): Promise<true> => {
    await ensureStreams(nc, { replicas: 3 })
    return true
  }
  await eventually('streams and buckets are made', orAgain(makeStreams), patiently)
  const manager = await jetstreamManager(nc, { timeout: 5_000, checkAPI: false })
  const replicas = await eventually(
    'all are listed',
    orAgain(async () => {
      const found = new Set<number>()
      for await (const { config } of manager.streams.list()) found.add(config.num_replicas)
      return found
    }),
    patiently,
  )
  expect([...replicas]).toEqual([3])

  const js = jetstream(nc, { timeout: 5_000 })
  const publish = (body: string): Promise<number | undefined> =>
    js.publish(spokenSubject(sensor), body).then(
      ({ seq }) => seq,
      () => undefined,
    )
  await eventually('the first is taken', () => publish('{"n":1}'), patiently)
  const lead = await eventually(
    'somebody leads',
    orAgain(async () => {
      const { cluster } = await manager.streams.info(raw)
      return started[Number(cluster?.leader?.slice(1))]
    }),
    patiently,
  )
  lead.kill('SIGKILL')
  await lead.exited
  await eventually('the other two take more', () => publish('{"n":2}'), patiently)
  const source = {
    env: {
      AIRPROOF_DATA: folder.path,
      NATS_URL: natsUrl,
      NATS_USER: 'operator',
      NATS_PASSWORD: access.passwords.operator,
    },
    flags: {},
  }
  const stop = new AbortController().signal
  const named = new RegExp(`server n${started.indexOf(lead)} is away, and with it a copy of \\d+ `)
  await eventually(
    'doctor names the server',
    async () => {
      // as each run of doctor: one world remembers what it could not ask
      await using world = openWorld({ source, config: readSharedConfig(source), stop })
      const findings = await runChecks([streamsCheck], world, { note: () => undefined })
      return findings.find(({ level, what }) => level === 'broken' && named.test(what))
    },
    patiently,
  )
  const first = await eventually(
    'what was acknowledged is there',
    () =>
      manager.streams.getMessage(raw, { seq: 1 }).then(
        (found) => found ?? undefined,
        () => undefined,
      ),
    patiently,
  )
  expect(new TextDecoder().decode(first.data)).toBe('{"n":1}')
  const kv = await eventually(
    'a bucket is opened',
    orAgain(() => new Kvm(nc).open(buckets.sensors)),
    patiently,
  )
  await eventually('a bucket is written to', () => kv.put(sensor, '{}').catch(() => undefined))
  // a process works from its own account, whichever server it and the leaders are on
  const [pipeline, api] = [await signIn('pipeline'), await signIn('api')]
  await eventually(
    'it writes',
    orAgain(() => jetstream(pipeline).publish(readingsSubject(0), 'x')),
    patiently,
  )
  const log = await eventually(
    'it reads the log',
    orAgain(() => followLogOf(api)),
    patiently,
  )
  for await (const message of log) {
    expect(message.string()).toBe('x')
    break
  }
  await log.close()
  // the process that has partitions has it in its metrics, until the server is back
  const away = awayGauge(pipeline)
  await eventually('a server is away', async () => (await away()) === 1, patiently)
  await start(lead.port, started.indexOf(lead))
  await eventually('it is back', async () => (await away()) === 0, patiently)
  await using bucket = await eventually(
    'it watches a bucket',
    orAgain(() => watchBucket(api, buckets.sensors, (value) => value)),
    patiently,
  )
  expect(bucket.get(sensor)).toEqual({})
})
