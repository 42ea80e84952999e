/**
 * What many registered sensors cost each process that knows them: `node bench/registry.ts
 * [--sensors 0,10000,100000] [--processes pipeline,api,gate,notifier,dashboard]` prints one JSON document.
 * Each sensor has an entry and a credential; none has sent a reading. Only the processes under test run,
 * one after the other, once with an image of both buckets and once without.
 *
 * - `readyMs`, `cpuMs`: from the start of the process to `/ready`, and what it used by then (user + system);
 *   `natsCpuMs`: what nats-server used meanwhile.
 * - `images`: what it took to write both, and their bytes for each sensor.
 * - `rssMb`, `peakMb`: resident then, and at most until then; `perSensorBytes`: `rssMb` beyond that of the
 *   same process with the fewest sensors of the run, by sensor.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { dayMs } from '../core/time.ts'
import { hashOfSecret } from '../operate/sensor-credentials.ts'
import { newEntry } from '../operate/sensor-registry.ts'
import { startChild } from '../runtime/machine/child.ts'
import { freePort } from '../runtime/machine/free-port.ts'
import { sqliteFileIn } from '../runtime/machine/store-place.ts'
import { writeImage } from '../runtime/nats/buckets/bucket-image.ts'
import { watchPacked } from '../runtime/nats/buckets/packed-bucket.ts'
import { ensureStreams } from '../runtime/nats/streams/streams.ts'
import { environment } from '../runtime/process/config.ts'
import type { Environment } from '../runtime/settings.ts'
import { buckets, imagedBuckets, imageStream } from '../schemas/subjects.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import { cityOf } from '../test/support/chaos/city.ts'
import { eventually } from '../test/support/eventually.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, rounded } from './pipeline-city.ts'

const names = ['pipeline', 'api', 'gate', 'notifier', 'dashboard'] as const
const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '0,10000,100000' },
    processes: { type: 'string', default: names.join(',') },
    starts: { type: 'string', default: '1' },
    /** Further words for Node, such as `--cpu-prof --cpu-prof-dir=…`. */
    node: { type: 'string', default: '' },
  },
})
const sizes = flags.sensors.split(',').map(Number)
const processes = names.filter((name) => flags.processes.split(',').includes(name))
const withinMs = 600_000

await using resources = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
resources.defer(() => rmSync(folder, { recursive: true, force: true }))
const nats = resources.use(await testNats())
const nc = await nats.connect('bench')
resources.defer(() => nc.close())
await ensureStreams(nc)
// without one the API is not ready: a pipeline makes it
await (await openSqliteStore({ file: sqliteFileIn(folder) }))[Symbol.asyncDispose]()

const ids = cityOf(Math.max(...sizes))
const entryOf = (id: string, at: number) =>
  newEntry({
    id,
    area: `Area ${at % 777}`,
    lat: 6.4 + (at % 1_000) / 5_000,
    lon: 3.2 + (at % 997) / 3_000,
    address: `${at} Test Road`,
    cadenceSeconds: 300,
    fromMs: Date.UTC(2026, 0, 1) - (at % 400) * dayMs,
    nowMs: Date.UTC(2026, 0, 1) + at,
  })
const credentialOf = (id: string) => ({
  hash: hashOfSecret(id),
  created_at: '2026-01-01T00:00:00Z',
})

const atOnce = 2_000

async function register(to: NatsConnection, fromAt: number, untilAt: number): Promise<void> {
  const js = jetstream(to)
  for (let first = fromAt; first < untilAt; first += atOnce) {
    const some = ids.slice(first, Math.min(first + atOnce, untilAt))
    await Promise.all(
      some.flatMap((id, i) => [
        js.publish(`$KV.${buckets.sensors}.${id}`, JSON.stringify(entryOf(id, first + i))),
        js.publish(`$KV.${buckets.credentials}.${id}`, JSON.stringify(credentialOf(id))),
      ]),
    )
  }
}

const settingsOf = (port: number): Environment => ({
  AIRPROOF_API_PORT: String(port),
  AIRPROOF_DASHBOARD_PORT: String(port),
  AIRPROOF_PUSH_PORT: String(port),
  AIRPROOF_MAP: 'none',
})

const memoryOf = (pid: number, what: 'VmRSS' | 'VmHWM'): number => {
  const [, kb] =
    new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) * 1_024
}

async function start(name: (typeof names)[number]) {
  const adminPort = await freePort()
  const lines: string[] = []
  const natsUs = cpuUsOf(nats.pid())
  const beganMs = performance.now()
  await using child = await startChild({
    command: process.execPath,
    args: [...flags.node.split(' ').filter(Boolean), 'bin/airproof.mjs', name],
    env: {
      ...environment(),
      NATS_URL: nats.url,
      AIRPROOF_DATA: folder,
      AIRPROOF_ADMIN_PORT: String(adminPort),
      AIRPROOF_LOG: 'warn',
      ...settingsOf(await freePort()),
    },
    onLine: (line) => lines.push(line),
  })
  const ready = `http://127.0.0.1:${adminPort}/ready`
  await eventually(
    `${name} is ready`,
    async () => {
      if (!child.isAlive()) throw new Error(`${name} ended: ${lines.join('\n')}`)
      const answer = await fetch(ready, { headers: { connection: 'close' } }).catch(() => undefined)
      return answer?.ok
    },
    { withinMs, everyMs: 20 },
  )
  const figures = {
    readyMs: Math.round(performance.now() - beganMs),
    cpuMs: Math.round(cpuUsOf(child.pid) / 1_000),
    natsCpuMs: Math.round((cpuUsOf(nats.pid()) - natsUs) / 1_000),
    rssMb: rounded(memoryOf(child.pid, 'VmRSS') / 1e6, 0),
    peakMb: rounded(memoryOf(child.pid, 'VmHWM') / 1e6, 0),
  }
  await child.stop()
  return figures
}

const manager = await jetstreamManager(nc)
const dropImages = async (): Promise<void> => {
  for (const bucket of imagedBuckets) await manager.streams.purge(imageStream(bucket))
}

async function writeImages() {
  const figures: { bucket: string; ms: number; bytesPerSensor: number; pieces: number }[] = []
  for (const bucket of imagedBuckets) {
    await using held = await watchPacked(nc, bucket, {
      parse: (value) => value,
      onNotice: () => undefined,
    })
    const beganMs = performance.now()
    await writeImage(nc, bucket, held.source())
    const ms = Math.round(performance.now() - beganMs)
    const { bytes, messages } = (await manager.streams.info(imageStream(bucket))).state
    figures.push({
      bucket,
      ms,
      bytesPerSensor: Math.round(bytes / registered),
      pieces: messages - 1,
    })
  }
  return { figures }
}

type Figures = Awaited<ReturnType<typeof start>> & {
  readonly process: string
  readonly sensors: number
  readonly image: boolean
}
const starts: Figures[] = []
const images: object[] = []
let registered = 0
for (const sensors of sizes) {
  await register(nc, registered, sensors)
  registered = sensors
  const measure = async (image: boolean): Promise<void> => {
    for (const name of processes)
      for (let again = 0; again < Number(flags.starts); again++) {
        // a pipeline or gate that was measured before may have written them
        if (!image) await dropImages()
        starts.push({ process: name, sensors, image, ...(await start(name)) })
      }
  }
  await measure(false)
  if (sensors === 0) continue
  images.push({ sensors, ...(await writeImages()) })
  await measure(true)
}
const rows = starts.map((one) => {
  const least = starts.find((other) => other.process === one.process)
  const beyond = one.sensors - (least?.sensors ?? 0)
  if (least === undefined || beyond === 0) return one
  const perSensorBytes = Math.round(((one.rssMb - least.rssMb) * 1e6) / beyond)
  const cpuUsPerSensor = rounded(((one.cpuMs - least.cpuMs) * 1_000) / beyond, 1)
  return { ...one, perSensorBytes, cpuUsPerSensor }
})
process.stdout.write(`${JSON.stringify({ bench: 'registry', images, starts: rows }, null, 2)}\n`)
