/**
 * What a reading costs from RAW to the store:
 * `node bench/pipeline.ts [--readings 200000] [--sensors 1000] [--engine sqlite] [--profile DIR]`
 * prints one JSON document. RAW is filled first, under the server's default sync; then each program
 * drains it in a process of its own, whose CPU (all threads, without the start-up) is what to
 * trust. The machine's other work affects readings per second: compare ratios of one run.
 * `secondHalfUs` is that of the readings after the first half, when V8 has compiled what is used: its
 * compiler takes most of a second of CPU, which is much for 200,000 readings. `threads` are the parts of
 * the whole by thread; those of V8 (collector, compiler) run beside the main one.
 * `shares` are percents of the main and the store's threads, of a run more, with a profile (kept in DIR).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount, sensorIdRules } from '../core/air/sensor-id.ts'
import { createDayBook, mostLateADay } from '../pipeline/decide/day-books.ts'
import { judgeMessage } from '../pipeline/decide/judge.ts'
import { Beat } from '../pipeline/intake/beat.ts'
import { openRawSource } from '../pipeline/intake/raw-source.ts'
import { startChild } from '../runtime/machine/child.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import { environment } from '../runtime/process/config.ts'
import { parseSensor } from '../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../schemas/format-level.ts'
import { buckets } from '../schemas/subjects.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import { cityOf, registerCity } from '../test/support/chaos/city.ts'
import { type PipelineProcess, startPipeline } from '../test/support/chaos/pipeline-process.ts'
import { plainRows, readRows } from '../test/support/chaos/read-store.ts'
import {
  type CheckedStore,
  checkedInflux,
  checkedSqlite,
} from '../test/support/chaos/store-engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { influxMissing } from '../test/support/influx.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, fillRaw, forgetLog, rounded, threadsCpuUs } from './pipeline-city.ts'
import { sharesIn } from './shares.ts'

const { values: flags } = parseArgs({
  options: {
    readings: { type: 'string', default: '200000' },
    sensors: { type: 'string', default: '1000' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'influx'] },
    profile: { type: 'string' },
  },
})
const readings = Number(flags.readings)
const withinMs = 600_000

type Cost = { readonly cpuUs: number; readonly perSecond: number }
const cost = (cpuUs: number, ms: number): Cost => ({
  cpuUs: rounded(cpuUs / readings),
  perSecond: Math.round((readings / ms) * 1_000),
})

function temporary(resources: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
  resources.defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Place = { readonly nc: NatsConnection; readonly natsUrl: string }

const openEngine = (engine: string, dataFolder: string): Promise<CheckedStore> =>
  engine === 'influx'
    ? checkedInflux({ isDirect: true })
    : Promise.resolve(checkedSqlite(dataFolder))

type Mark = { readonly rows: number; readonly cpuUs: number }

/** @returns what was stored, and what it had cost, when that was first seen to be half of all or more */
async function untilStored(pipeline: PipelineProcess): Promise<Mark> {
  let half: Mark | undefined
  await eventually(
    'all is stored',
    async () => {
      const rows = (await pipeline.metric('airproof_store_rows_total')) ?? 0
      if (rows >= readings / 2) half ??= { rows, cpuUs: cpuUsOf(pipeline.pid) }
      return rows === readings
    },
    { withinMs, everyMs: 50 },
  )
  return half ?? { rows: 0, cpuUs: 0 }
}

/** Our pipeline on a full RAW, and what it costs to start on what it has finished. */
async function ours({ nc, natsUrl }: Place, engine: string) {
  await using resources = new AsyncDisposableStack()
  const dataFolder = temporary(resources)
  const store = resources.use(await openEngine(engine, dataFolder))
  await forgetLog(nc)
  const beganMs = performance.now()
  const pipeline = await startPipeline({ natsUrl, dataFolder, env: store.env })
  resources.use(pipeline)
  const half = await untilStored(pipeline)
  const ms = performance.now() - beganMs
  const cpuUs = cpuUsOf(pipeline.pid)
  const threads = threadsCpuUs(pipeline.pid)
  const rssMb = ((await pipeline.metric('process_resident_memory_bytes')) ?? 0) / 1e6
  await pipeline.stop()

  const idle = await startPipeline({ natsUrl, dataFolder, env: store.env })
  resources.use(idle)
  const startedMs = performance.now()
  await idle.untilReady()
  const startMs = performance.now() - startedMs
  const startCpuUs = cpuUsOf(idle.pid)
  const idleThreads = threadsCpuUs(idle.pid)
  await idle.stop()
  const reader = resources.use(await store.open())
  const rows = await readRows(reader)
  return {
    ...cost(cpuUs - startCpuUs, Math.max(1, ms - startMs)),
    secondHalfUs: rounded((cpuUs - half.cpuUs) / Math.max(1, readings - half.rows)),
    threads: Object.fromEntries(
      [...threads].map(([name, us]) => [
        name,
        rounded((us - (idleThreads.get(name) ?? 0)) / readings),
      ]),
    ),
    startCpuMs: Math.round(startCpuUs / 1_000),
    rssMb: Math.round(rssMb),
    rows,
  }
}

/** The same once more, with a profile, which takes time of its own: what its time goes to. */
async function shares({ nc, natsUrl }: Place, engine: string) {
  await using resources = new AsyncDisposableStack()
  const dataFolder = temporary(resources)
  const store = resources.use(await openEngine(engine, dataFolder))
  await forgetLog(nc)
  const folder = flags.profile ?? temporary(resources)
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${folder}`]
  const pipeline = await startPipeline({ natsUrl, dataFolder, env: store.env, nodeArgs })
  resources.use(pipeline)
  await untilStored(pipeline)
  await pipeline.stop()
  return sharesIn(folder)
}

async function naive({ natsUrl }: Place, engine: string) {
  await using resources = new AsyncDisposableStack()
  const dataFolder = temporary(resources)
  const store = resources.use(await openEngine(engine, dataFolder))
  const lines: string[] = []
  const child = resources.use(
    await startChild({
      command: process.execPath,
      args: ['bench/pipeline-naive.ts'],
      env: {
        ...environment(),
        NATS_URL: natsUrl,
        AIRPROOF_DATA: dataFolder,
        BENCH_READINGS: String(readings),
        ...store.env,
      },
      onLine: (line) => lines.push(line),
    }),
  )
  const { code } = await child.exited
  if (code !== 0) throw new Error(`the naive program failed: ${lines.join('\n')}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own line
  const result = JSON.parse(lines.at(-1) ?? '{}') as { cpuUs: number; perSecond: number }
  const reader = resources.use(await store.open())
  return {
    cpuUs: rounded(result.cpuUs),
    perSecond: Math.round(result.perSecond),
    rows: await readRows(reader),
  }
}

/** Pull, parse, validate and score, and nothing else: no program over this RAW is faster. */
async function ceiling({ nc }: Place): Promise<Cost> {
  const rules = sensorIdRules()
  await using sensors = await watchBucket(nc, buckets.sensors, (value) => parseSensor(value, rules))
  const before = process.cpuUsage()
  const beganMs = performance.now()
  let judged = 0
  const done = Promise.withResolvers<void>()
  const beat = new Beat(() => performance.now())
  const sources = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) =>
      openRawSource(nc, { partition, fromSeq: 1, beat, nowMs: () => performance.now() }),
    ),
  )
  const work = sources.map(async (source, partition) => {
    const known = { partition, sensorOf: sensors.get, earliestMs: 0 }
    const level = { current: () => newestLevel }
    const options = { ...known, mayBeLate: createDayBook(mostLateADay), level }
    for (let batch = await source.next(); batch !== undefined; batch = await source.next()) {
      judged += batch.map((raw) => judgeMessage(raw, options)).length
      if (judged >= readings) done.resolve()
    }
  })
  await done.promise
  const { user, system } = process.cpuUsage(before)
  const ms = performance.now() - beganMs
  await Promise.all(sources.map((source) => source[Symbol.asyncDispose]()))
  await Promise.all(work)
  return cost(user + system, ms)
}

/** The same rows through the store alone, in the sizes in which the pipeline writes them. */
async function sqliteAlone(rows: Awaited<ReturnType<typeof readRows>>): Promise<Cost> {
  await using resources = new AsyncDisposableStack()
  const store = resources.use(
    await openSqliteStore({ file: join(temporary(resources), 'readings.sqlite') }),
  )
  const before = process.cpuUsage()
  const beganMs = performance.now()
  for (let at = 0; at < rows.length; at += 5_000) await store.writeBatch(rows.slice(at, at + 5_000))
  const { user, system } = process.cpuUsage(before)
  return cost(user + system, performance.now() - beganMs)
}

const content = (rows: Awaited<ReturnType<typeof readRows>>): Set<string> =>
  new Set(plainRows(rows).map((row) => JSON.stringify({ ...row, seq: 0, leafVersion: 1 })))

await using resources = new AsyncDisposableStack()
const nats = resources.use(await testNats())
const nc = await nats.connect('bench')
resources.defer(() => nc.close())
const place = { nc, natsUrl: nats.url }
const ids = cityOf(Number(flags.sensors))
await registerCity(nc, ids)
const filled = await fillRaw(nc, ids, readings)
const ceilingCost = await ceiling(place)
const results: Record<string, unknown> = {}
const missing = flags.engine.includes('influx') ? await influxMissing() : undefined
for (const engine of flags.engine) {
  if (engine === 'influx' && missing !== undefined) {
    results[engine] = { missing }
    continue
  }
  const { rows, ...our } = await ours(place, engine)
  const { rows: naiveRows, ...textbook } = await naive(place, engine)
  const storeAlone = engine === 'sqlite' ? await sqliteAlone(rows) : undefined
  results[engine] = {
    ours: our,
    naive: textbook,
    ...(storeAlone === undefined
      ? {}
      : { storeAlone, oursWithoutStoreUs: rounded(our.cpuUs - storeAlone.cpuUs) }),
    cheaperThanNaive: rounded(textbook.cpuUs / our.cpuUs),
    fasterThanNaive: rounded(our.perSecond / textbook.perSecond),
    ofCeiling: rounded(our.perSecond / ceilingCost.perSecond),
    rows: rows.length,
    shares: await shares(place, engine),
    sameRows: content(rows).symmetricDifference(content(naiveRows)).size === 0,
  }
  await nc.request('$JS.API.STREAM.DELETE.NAIVE')
  for (let p = 0; p < partitionCount; p++) {
    await nc.request(`$JS.API.CONSUMER.DELETE.RAW_${p}.naive`)
  }
}
process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'pipeline',
      readings,
      sensors: ids.length,
      bodyBytes: filled.bytes,
      sync: "the server's default while RAW is filled and drained",
      filledPerSecond: filled.perSecond,
      ceiling: ceilingCost,
      ...results,
    },
    null,
    2,
  )}\n`,
)
