/**
 * What the notifier can do, on real local receivers: prints one JSON object. Ratios are of one run
 * on one machine; with `--quick` everything is a tenth. `--only part,part` runs some parts.
 *
 *     node bench/notifier.ts [--quick] [--only matching,throughput,latency,pending]
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { nodeFlags } from '../cli/up/process.ts'
import { createWebhookIndex } from '../core/delivery/webhook-match.ts'
import { freePort } from '../runtime/machine/free-port.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { environment } from '../runtime/process/config.ts'
import { buckets, eventSubject } from '../schemas/subjects.ts'
import type { Webhook } from '../schemas/webhooks/webhook.ts'
import { type TestNats, testNats } from '../test/support/nats.ts'
import { makeWebhook, putAccount, rise, testKey, testSecret } from '../test/support/notifier.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } })
const share = values.quick === true ? 0.1 : 1
const parts = { matching, throughput, latency, pending }
const wanted = values.only?.split(',') ?? Object.keys(parts)

type Statistics = {
  readonly total: number
  readonly distinct: number
  readonly seconds: number
  readonly firstMs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

type City = AsyncDisposable & {
  readonly nats: TestNats
  readonly nc: NatsConnection
  readonly urlOf: (receiver: number) => string
  readonly statistics: () => Promise<Statistics>
  readonly reset: () => Promise<unknown>
  readonly folder: string
}

async function openCity(receivers: number): Promise<City> {
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const folder = opened.use(temporaryFolder())
  const nc = await nats.connect('bench')
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const receiver = fork(new URL('./notifier-receiver.ts', import.meta.url), [String(receivers)])
  opened.defer(() => end(receiver))
  const [ports] = await once(receiver, 'message')
  const urls: string[] = ports.map((port: number) => `http://127.0.0.1:${port}`)
  const url = urls[0] ?? ''
  const get = (path: string) => fetch(`${url}${path}`, { headers: { connection: 'close' } })
  const closing = opened.move()
  return {
    nats,
    nc,
    urlOf: (i) => urls[i % urls.length] ?? '',
    folder: folder.path,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own receiver's words
    statistics: async () => (await (await get('/stats')).json()) as Statistics,
    reset: async () => (await get('/reset')).text(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function startOurs({ nats, folder }: City): Promise<ChildProcess> {
  const port = await freePort()
  const program = new URL('../bin/airproof.mjs', import.meta.url).pathname
  const child = spawn(process.execPath, [...(nodeFlags['notifier'] ?? []), program, 'notifier'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...environment(),
      NATS_URL: nats.url,
      AIRPROOF_DATA: folder,
      AIRPROOF_ADMIN_PORT: String(port),
      AIRPROOF_SECRET: testKey,
      AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1',
    },
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`, {
      headers: { connection: 'close' },
    }).catch(() => undefined)
    if (ready?.ok === true) return child
    await sleep(20)
  }
}

async function startSharedPool(
  { nats, folder }: City,
  webhooks: readonly Webhook[],
): Promise<ChildProcess> {
  const targets = Object.groupBy(
    webhooks.map(({ id, url, filters }) => ({
      id,
      url,
      secret: testSecret,
      sensor: filters.sensor_id ?? '*',
    })),
    ({ sensor }) => sensor,
  )
  const file = join(folder, 'targets.json')
  writeFileSync(file, JSON.stringify(targets))
  const child = fork(new URL('./notifier-shared-pool.ts', import.meta.url), [file], {
    env: { ...environment(), NATS_URL: nats.url },
  })
  await once(child, 'message')
  return child
}

async function putAll(nc: NatsConnection, webhooks: readonly Webhook[]): Promise<void> {
  const kv = await new Kvm(nc).open(buckets.webhooks)
  for (const account of new Set(webhooks.map((webhook) => webhook.account)))
    await putAccount(nc, account)
  for (let i = 0; i < webhooks.length; i += 200)
    await Promise.all(
      webhooks.slice(i, i + 200).map((webhook) => kv.put(webhook.id, JSON.stringify(webhook))),
    )
}

const sensorOf = (i: number): string => `NGR-LOS-YAB-${String(i).padStart(3, '0')}`

const publish = (nc: NatsConnection, sensor: string) => {
  const event = rise(100, 180, sensor)
  return jetstream(nc).publish(eventSubject('rise', sensor), JSON.stringify(event))
}

async function until(look: () => Promise<boolean> | boolean, withinMs = 600_000): Promise<void> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await sleep(50))
    if (await look()) return
  throw new Error('the benchmark waited in vain')
}

/** CPU seconds a process has used. */
function cpuOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function rssMb(pid: number | undefined): number {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kb) / 1_024)
}

/** 100,000 webhooks, of which an event concerns three. */
function matching() {
  const webhooks = 100_000 * share
  const index = createWebhookIndex()
  const perSensor = 3
  for (let number = 0; number < webhooks; number++) {
    const sensor = `S-${Math.floor(number / perSensor)}`
    index.put({
      number,
      events: ['aqi.high', 'sensor.offline'],
      sensor,
      area: undefined,
      threshold: 50 + (number % 300),
    })
  }
  const events = 200_000
  let matched = 0
  const startMs = performance.now()
  for (let i = 0; i < events; i++) {
    const sensor = `S-${(i * 7_919) % Math.floor(webhooks / perSensor)}`
    index.rise({ sensor, area: 'Yaba' }, { from: 0, to: 400 }, () => matched++)
  }
  const microseconds = ((performance.now() - startMs) * 1_000) / events
  return {
    webhooks,
    microsecondsAnEvent: round(microseconds),
    matchedAnEvent: round(matched / events),
  }
}

/** A number of deliveries at once that no limit of an endpoint or account slows down. */
async function throughput() {
  const hooks = 2_000
  const events = Math.max(2, Math.round(20 * share))
  const run = async (
    start: (city: City, webhooks: readonly Webhook[]) => Promise<ChildProcess>,
  ) => {
    await using city = await openCity(hooks)
    const webhooks = Array.from({ length: hooks }, (_, i) =>
      makeWebhook({ url: `${city.urlOf(i)}/ok/${i}`, account: `acc-${i}`, shard: i % 4 }),
    )
    await putAll(city.nc, webhooks)
    const child = await start(city, webhooks)
    try {
      const [beforeCpu, beforeServer] = [cpuOf(child.pid), cpuOf(city.nats.pid())]
      const expected = hooks * events
      for (let i = 0; i < events; i++) await publish(city.nc, sensorOf(i))
      await until(async () => (await city.statistics()).distinct >= expected)
      const { seconds, total } = await city.statistics()
      return {
        deliveries: expected,
        repeats: total - expected,
        perSecond: Math.round(expected / seconds),
        cpuMicroseconds: Math.round(((cpuOf(child.pid) - beforeCpu) * 1e6) / expected),
        serverCpuMicroseconds: Math.round(
          ((cpuOf(city.nats.pid()) - beforeServer) * 1e6) / expected,
        ),
      }
    } finally {
      await end(child)
    }
  }
  const ours = await run(startOurs)
  const sharedPool = await run(startSharedPool)
  return { ours, sharedPool, ratio: round(ours.perSecond / sharedPool.perSecond) }
}

/** From the publish of an event to the arrival of the request at the receiver. */
async function latency() {
  const hooks = 1_000
  const rate = 400
  const seconds = Math.max(5, Math.round(40 * share))
  const run = async (
    start: (city: City, webhooks: readonly Webhook[]) => Promise<ChildProcess>,
  ) => {
    await using city = await openCity(hooks)
    const webhooks = Array.from({ length: hooks }, (_, i) =>
      makeWebhook({
        url: `${city.urlOf(i)}/${i % 10 === 0 ? 'hang' : 'ok'}/${i}`,
        account: `acc-${i}`,
        shard: i % 4,
        filters: { sensor_id: sensorOf(i) },
      }),
    )
    await putAll(city.nc, webhooks)
    const child = await start(city, webhooks)
    try {
      for (let i = 0; i < 50; i++) {
        await publish(city.nc, sensorOf(i * 10 + 1))
        await sleep(20)
      }
      await until(async () => (await city.statistics()).distinct >= 50)
      const idle = await city.statistics()
      // each healthy one has been heard once, so that what is measured is not the first connection
      for (let i = 0; i < hooks; i++) if (i % 10 !== 0) await publish(city.nc, sensorOf(i))
      await until(async () => (await city.statistics()).distinct >= 50 + hooks * 0.9)
      await city.reset()
      const startMs = performance.now()
      let healthy = 0
      for (let i = 0; i < rate * seconds; i++) {
        const hook = (i * 7) % hooks
        if (hook % 10 !== 0) healthy++
        void publish(city.nc, sensorOf(hook))
        const aheadMs = (i / rate) * 1_000 - (performance.now() - startMs)
        if (aheadMs > 5) await sleep(aheadMs)
      }
      await until(async () => (await city.statistics()).distinct >= healthy)
      const loaded = await city.statistics()
      return {
        idleP99Ms: idle.p99Ms,
        idleP50Ms: idle.p50Ms,
        loadedP50Ms: loaded.p50Ms,
        loadedP99Ms: loaded.p99Ms,
      }
    } finally {
      await end(child)
    }
  }
  const ours = await run(startOurs)
  const sharedPool = await run(startSharedPool)
  return { ours, sharedPool, ratioP99: round(sharedPool.loadedP99Ms / ours.loadedP99Ms) }
}

/** Memory of a million deliveries that wait, and the time from a kill to the first of them. */
async function pending() {
  const hooks = 50
  const each = 20_000 * share
  await using city = await openCity(hooks)
  const webhooks = Array.from({ length: hooks }, (_, i) =>
    makeWebhook({
      url: `${city.urlOf(i)}/ok/${i}`,
      account: `acc-${i}`,
      shard: i % 4,
      paused: true,
    }),
  )
  await putAll(city.nc, webhooks)
  for (let i = 0; i < each; i += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, each - i) }, (_, k) =>
        publish(city.nc, sensorOf((i + k) % 1_000)),
      ),
    )
  const serverBeforeMb = rssMb(city.nats.pid())
  let child = await startOurs(city)
  try {
    const walEnds = async (): Promise<string> =>
      JSON.stringify(
        await Promise.all([0, 1, 2, 3].map(async (s) => await lastSeq(city.nc, `DW_${s}`))),
      )
    let before = ''
    // all is written when nothing was written for three seconds
    await until(async () => {
      const now = await walEnds()
      if (now === before) return true
      before = now
      await sleep(3_000)
      return false
    })
    const notifierMb = rssMb(child.pid)
    const serverMb = rssMb(city.nats.pid())
    await end(child)
    const [first] = webhooks
    if (first !== undefined) await putAll(city.nc, [{ ...first, paused: false }])
    const startMs = Date.now()
    child = await startOurs(city)
    await until(async () => (await city.statistics()).total > 0)
    const cpu = cpuOf(child.pid)
    const { firstMs } = await city.statistics()
    return {
      pending: hooks * each,
      notifierMb,
      serverGrowthMb: serverMb - serverBeforeMb,
      sumMb: notifierMb + serverMb - serverBeforeMb,
      restartToFirstMs: firstMs - startMs,
      restartCpuSeconds: cpu,
    }
  } finally {
    await end(child)
  }
}

async function lastSeq(nc: NatsConnection, stream: string): Promise<number> {
  const { streams } = await jetstreamManager(nc)
  return (await streams.info(stream)).state.last_seq
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const results: Record<string, unknown> = {}
for (const [name, part] of Object.entries(parts)) {
  if (wanted.includes(name)) results[name] = await part()
}
console.log(JSON.stringify(results, null, 2))
