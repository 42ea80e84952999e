/**
 * The gate: sign-ins per second of one process that knows 100,000 credentials, a storm of sensors
 * that connect at once, connections that send nothing; and readings over MQTT into RAW of a
 * server of its own, on which each write is on the disk before it is acknowledged.
 * Usage: node bench/gate.ts [--sensors 100000] [--sign-ins 10000] [--storm 5000] [--silent 10000]
 */
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { partitionCount, sensorIdRules } from '../core/air/sensor-id.ts'
import { hashOfSecret, newSecret } from '../operate/sensor-credentials.ts'
import { importSensors, newEntry, openRegistry } from '../operate/sensor-registry.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import { startChild } from '../runtime/machine/child.ts'
import { freePort } from '../runtime/machine/free-port.ts'
import { environment } from '../runtime/process/config.ts'
import { buckets, rawStream } from '../schemas/subjects.ts'
import { eventually } from '../test/support/eventually.ts'
import { type Guarded, guardedNats } from '../test/support/gate.ts'
import { mqttClient } from '../test/support/mqtt-client.ts'

const { values } = parseArgs({
  options: {
    sensors: { type: 'string', default: '100000' },
    'sign-ins': { type: 'string', default: '10000' },
    storm: { type: 'string', default: '5000' },
    silent: { type: 'string', default: '10000' },
  },
})
const [sensors, signIns, storm, silent] = [
  Number(values.sensors),
  Number(values['sign-ins']),
  Number(values.storm),
  Number(values.silent),
]
/** All sensors have the same credential: that does not make its check cheaper. */
const secret = newSecret()
const mqttSensors = 50
const idOf = (i: number): string => `NGR-LOS-BEN-${String(i).padStart(6, '0')}`

await using nats = await guardedNats({ maxConnections: 20_000 })
await fill(nats, sensors)
await using gate = await startGate(nats)
const paced = await signInAll(signIns, 64)
const atOnce = await signInAll(storm, storm)
const quiet = await measureSilent()
await using durable = await guardedNats({ syncAlways: true })
await fill(durable, mqttSensors)
await using _durableGate = await startGate(durable)
const arrays = await measureMqtt(durable, { messages: 5_000, each: 20 })
const singles = await measureMqtt(durable, { messages: 10_000, each: 1 })
console.log(
  JSON.stringify(
    {
      sensors,
      gateReadyMs: gate.readyMs,
      signIns: { ...paced, inFlight: 64, bar: '≥ 1,000/s, p99 ≤ 100 ms' },
      storm: { ...atOnce, bar: 'all within 60 s' },
      silent: quiet,
      mqttArraysOf20: { ...arrays, bar: '≥ 10,000 readings/s' },
      mqttOneByOne: singles,
    },
    null,
    2,
  ),
)

async function fill({ nc, credentials }: Guarded, count: number): Promise<void> {
  const registry = await openRegistry(nc, sensorIdRules())
  const ids = Array.from({ length: count }, (_, i) => idOf(i))
  await importSensors(
    registry,
    ids.map((id) =>
      newEntry({
        id,
        area: 'Bench',
        lat: 6.5,
        lon: 3.4,
        address: '',
        cadenceSeconds: 300,
        fromMs: 0,
        nowMs: Date.now(),
      }),
    ),
  )
  const record = JSON.stringify({
    hash: hashOfSecret(secret),
    created_at: new Date().toISOString(),
  })
  await inParallel(ids, 500, async (id) => void (await credentials.put(id, record)))
}

async function startGate(
  of: Guarded,
): Promise<AsyncDisposable & { readonly readyMs: number; readonly cpuMs: () => Promise<number> }> {
  const adminPort = await freePort()
  const startMs = performance.now()
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'gate'],
    env: {
      ...environment(),
      ...of.gateEnv,
      AIRPROOF_ADMIN_PORT: String(adminPort),
      AIRPROOF_LOG: 'warn',
    },
    onLine: (line) => process.stderr.write(`${line}\n`),
  })
  const get = (path: string): Promise<string> =>
    fetch(`http://127.0.0.1:${adminPort}${path}`, { headers: { connection: 'close' } }).then(
      async (answer) => (answer.ok ? await answer.text() : ''),
    )
  await eventually(
    'the gate is ready',
    () =>
      get('/ready')
        .catch(() => '')
        .then(Boolean),
    {
      withinMs: 120_000,
    },
  )
  return {
    readyMs: Math.round(performance.now() - startMs),
    cpuMs: async () => {
      const text = await get('/metrics')
      const [, seconds = '0'] = /^process_cpu_seconds_total\{[^}]*\} (\S+)/m.exec(text) ?? []
      return Number(seconds) * 1_000
    },
    [Symbol.asyncDispose]: async () => void (await child.stop()),
  }
}

/** Signs in as `count` sensors, a bounded number at a time, by the bare protocol. */
async function signInAll(count: number, inFlight: number) {
  const cpuBefore = await gate.cpuMs()
  const startMs = performance.now()
  const times: number[] = []
  const sockets: Socket[] = []
  let refused = 0
  await inParallel(
    Array.from({ length: count }, (_, i) => i),
    inFlight,
    async (i) => {
      const beganMs = performance.now()
      const socket = await signIn(idOf(i % sensors))
      if (socket === undefined) refused += 1
      else {
        times.push(performance.now() - beganMs)
        sockets.push(socket)
      }
    },
  )
  const tookMs = performance.now() - startMs
  for (const socket of sockets) socket.destroy()
  const cpuMs = (await gate.cpuMs()) - cpuBefore
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  return {
    count,
    refused,
    tookMs: Math.round(tookMs),
    perSecond: Math.round((times.length / tookMs) * 1_000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    gateCpuUsEach: Math.round((cpuMs / count) * 1_000),
    perSecondOfGateCpu: Math.round((count / cpuMs) * 1_000),
  }
}

function signIn(id: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(nats.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    socket.once('connect', () => {
      const options = { user: id, pass: secret, lang: 'bench', version: '1', verbose: false }
      socket.write(`CONNECT ${JSON.stringify(options)}\r\nPING\r\n`)
    })
    socket.on('data', (data) => {
      const text = data.toString('latin1')
      if (text.includes('PONG')) resolve(socket)
      else if (text.includes('-ERR')) resolve(undefined)
    })
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => resolve(undefined))
  })
}

/** Sensors sign in beside many connections that never do; the server closes the others. */
async function measureSilent() {
  const { hostname, port } = new URL(nats.url)
  let open = 0
  const sockets: Socket[] = []
  const startMs = performance.now()
  await inParallel(
    Array.from({ length: silent }, (_, i) => i),
    500,
    () =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          open += 1
          resolve()
        })
        socket.resume()
        socket.on('close', () => void (open -= 1))
        socket.on('error', () => resolve())
        sockets.push(socket)
      }),
  )
  const most = open
  const meanwhile = await signInAll(200, 16)
  await eventually('the server has let go of all', () => open <= 0, { withinMs: 60_000 })
  const goneMs = performance.now() - startMs
  for (const socket of sockets) socket.destroy()
  return {
    connections: silent,
    openAtMost: most,
    allGoneMs: Math.round(goneMs),
    signInsMeanwhile: { refused: meanwhile.refused, p99Ms: meanwhile.p99Ms },
  }
}

/** QoS 1 from 50 sensors; it ends when RAW holds all of it, which a PUBACK does not mean. */
async function measureMqtt(
  { nc, mqttUrl }: Guarded,
  { messages, each }: { readonly messages: number; readonly each: number },
) {
  const manager = await jetstreamManager(nc)
  const stored = async (): Promise<number> => {
    const infos = await Promise.all(
      Array.from({ length: partitionCount }, (_, p) => manager.streams.info(rawStream(p))),
    )
    return infos.reduce((sum, { state }) => sum + state.messages, 0)
  }
  // the flood bound is in the registry, and this load is a flood
  const kv = await new Kvm(nc).open(buckets.sensors)
  const ids = Array.from({ length: mqttSensors }, (_, i) => idOf(i))
  for (const id of ids) {
    const entry = (await kv.get(id))?.json<object>()
    await kv.put(id, JSON.stringify({ ...entry, flood: { per_second: 10_000, burst: 1_000_000 } }))
  }
  const clients = await Promise.all(ids.map((id) => mqttClient(mqttUrl, { id, secret })))
  const reading = { timestamp: new Date().toISOString(), pm25: 18.5, pm10: 32.1, temperature: 29 }
  const body = JSON.stringify(each === 1 ? reading : Array.from({ length: each }, () => reading))
  const before = await stored()
  const startMs = performance.now()
  await inParallel(
    Array.from({ length: messages }, (_, i) => i),
    200,
    async (i) => {
      const at = i % clients.length
      await clients[at]?.publishAsync(`air/raw/${ids[at]}`, body, { qos: 1 })
    },
  )
  await eventually('RAW holds all', async () => (await stored()) - before >= messages, {
    withinMs: 60_000,
    everyMs: 5,
  })
  const tookMs = performance.now() - startMs
  await Promise.all(clients.map((client) => client.endAsync(true)))
  return {
    messages,
    readings: messages * each,
    tookMs: Math.round(tookMs),
    readingsPerSecond: Math.round(((messages * each) / tookMs) * 1_000),
  }
}
