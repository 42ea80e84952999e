/**
 * What the two stores cost: rows per second, our CPU per row, and how long each query takes.
 * `node bench/store.ts [--sensors 1000] [--hours 24] [--cadence 5] [--batch 2000] [--lanes 2]
 * [--engine sqlite]` prints one JSON document (`cadence` in minutes). `overall` is what the API asks for the
 * last 24 hours and 30 days of the network, which begin and end within an hour: from readings, and from
 * hours as far as they are written. The machine's other work affects it: compare the ratios of one run.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAreaHistory } from '../api/areas/area-history.ts'
import { wholeNetwork } from '../core/air/area.ts'
import type { Reading } from '../core/air/reading.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { dayMs, hourMs, minuteMs } from '../core/time.ts'
import { createRollupProgress } from '../operate/rollup-progress.ts'
import { createCache } from '../runtime/cache.ts'
import { openSqliteStore } from '../store/sqlite/sqlite.ts'
import type { AreaStats, Store } from '../store/store.ts'
import { influxMissing, testInflux } from '../test/support/influx.ts'
import { readingOf } from '../test/support/readings.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '1000' },
    hours: { type: 'string', default: '24' },
    cadence: { type: 'string', default: '5' },
    batch: { type: 'string', default: '2000' },
    lanes: { type: 'string', default: '2' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'influx'] },
  },
})
const size = {
  sensors: Number(flags.sensors),
  hours: Number(flags.hours),
  batch: Number(flags.batch),
  lanes: Number(flags.lanes),
}
const areas = 20
const cadenceMs = Number(flags.cadence) * minuteMs
const startMs = Date.UTC(2026, 2, 1)
const endMs = startMs + size.hours * hourMs
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- canonical by its making
const sensorId = (n: number): SensorId => `NGR-LOS-BEN-${String(n).padStart(4, '0')}` as SensorId
const areaOf = (n: number): string => `Area ${n % areas}`

/** A city's readings in the order of their time, one batch after the other. */
function* batches(): Generator<Reading[]> {
  let batch: Reading[] = []
  let seq = 0
  for (let slot = startMs; slot < endMs; slot += cadenceMs) {
    for (let n = 0; n < size.sensors; n++) {
      // spread over the slot as real sensors are; values by a stride, so that runs are alike
      seq++
      batch.push(
        readingOf({
          sensor: sensorId(n),
          area: areaOf(n),
          timeMs: slot + Math.floor((n * cadenceMs) / size.sensors),
          pm25: (seq * 7919) % 20_011,
          pm10: (seq * 7907) % 30_011,
          co2: 40_000 + ((seq * 7901) % 40_009),
          temperature: 2_000 + ((seq * 7883) % 1_511),
          humidity: (seq * 7879) % 10_007,
          aqi: (seq * 7877) % 501,
          flags: 0,
          seq,
        }),
      )
      if (batch.length === size.batch) {
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}

type Cost = { readonly rowsPerSecond: number; readonly ourCpuUsPerRow: number }

async function timed(rows: number, work: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = process.cpuUsage()
  const before = performance.now()
  await work()
  const ms = performance.now() - before
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    rowsPerSecond: Math.round((rows / ms) * 1000),
    ourCpuUsPerRow: round((user + system) / rows),
  }
}

async function inLanes(
  work: (batch: Reading[]) => Promise<unknown>,
  prepared: Reading[][],
): Promise<void> {
  const queue = prepared.values()
  const lane = async (): Promise<void> => {
    for (const batch of queue) await work(batch)
  }
  await Promise.all(Array.from({ length: size.lanes }, lane))
}

async function p50Ms(repeats: number, work: (i: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < repeats; i++) {
    const before = performance.now()
    await work(i)
    times.push(performance.now() - before)
  }
  return round(times.sort((a, b) => a - b)[Math.floor(repeats / 2)] ?? 0)
}

const round = (value: number): number => Math.round(value * 100) / 100

async function measure(store: Store): Promise<unknown> {
  const prepared = [...batches()]
  const rows = prepared.reduce((sum, batch) => sum + batch.length, 0)
  const write = await timed(rows, async () => inLanes(store.writeBatch, prepared))
  const known = prepared.slice(0, 20)
  const rowCount = known.reduce((sum, batch) => sum + batch.length, 0)
  const manySensors = await timed(rowCount, async () => inLanes(store.existing, known))
  const byFew = Array.from({ length: 10 }, (_, i) => fewSensors(prepared, i))
  const fewSensorsCost = await timed(byFew.flat().length, async () =>
    inLanes(store.existing, byFew),
  )
  const dayAgo = Math.max(startMs, endMs - dayMs)
  const some = (i: number): SensorId => sensorId((i * 37) % size.sensors)
  const hours = await store.computeBuckets(wholeNetwork, startMs, endMs, 'hour')
  const overall = await overallOf(store, hours)
  return {
    rows,
    write,
    overall,
    existing: { ofManySensors: manySensors, ofFewSensors: fewSensorsCost },
    p50Ms: {
      latest1: await p50Ms(50, async (i) => store.latest(some(i), 1)),
      at: await p50Ms(50, async (i) => store.at(some(i), prepared[i]?.[0]?.timeMs ?? startMs)),
      range100: await p50Ms(50, async (i) => store.range(some(i), startMs, endMs, 100)),
      rangeAll1000: await p50Ms(10, async () => store.rangeAll(startMs, endMs, 1000)),
      seedLatest: await p50Ms(3, async () => store.seedLatest()),
      overallOfArea24h: await p50Ms(5, async () => store.computeOverall('Area 1', dayAgo, endMs)),
      hoursOfArea24h: await p50Ms(5, async () =>
        store.computeBuckets('Area 1', dayAgo, endMs, 'hour'),
      ),
      oneHourOfNetwork: await p50Ms(5, async () =>
        store.computeBuckets(wholeNetwork, endMs - hourMs, endMs, 'hour'),
      ),
      oneHourOfArea: await p50Ms(5, async () =>
        store.computeBuckets('Area 1', endMs - hourMs, endMs, 'hour'),
      ),
      rollups24h: await p50Ms(20, async () => store.areaHours(wholeNetwork, endMs - dayMs, endMs)),
      rollups30d: await p50Ms(20, async () =>
        store.areaHours(wholeNetwork, endMs - 30 * dayMs, endMs),
      ),
    },
  }
}

/** The hours of what is written, and of the thirty days before it, which are like them. */
async function overallOf(store: Store, hours: readonly AreaStats[]): Promise<unknown> {
  const past = Array.from({ length: 30 * 24 }, (_, i) => ({
    ...hours[i % hours.length]!,
    startMs: startMs - (i + 1) * hourMs,
  }))
  await store.writeAreaHours([...past, ...hours])
  for (const { startMs: start } of hours) await store.keepHourValues(wholeNetwork, start)
  const nowMs = endMs - 25 * minuteMs
  const progress = createRollupProgress()
  progress.record({ position: 1, dirty: [], dirtyDays: [] })
  const history = createAreaHistory({ progress, nowMs: () => nowMs })
  const ofDays = (days: number) => {
    // a new one each time: nothing is cached
    const keep = createCache({ forMs: 0, most: 100, nowMs: () => nowMs })
    const request = { store, keep, gone: new AbortController().signal, isVisitor: false }
    return history(request, wholeNetwork, { fromMs: nowMs - days * dayMs, toMs: nowMs })
  }
  const fromReadings = () => store.computeOverall(wholeNetwork, nowMs - dayMs, nowMs)
  const { stats } = await ofDays(1)
  if (JSON.stringify(stats) !== JSON.stringify(await fromReadings()))
    throw new Error('statistics of hours differ from those of readings')
  return {
    day: await inTurns(5, { fromReadings, fromHours: () => ofDays(1) }),
    thirtyDays: await inTurns(9, { fromHours: () => ofDays(30) }),
  }
}

/** ms and, of our process, CPU ms: median and least. */
async function inTurns(rounds: number, works: Readonly<Record<string, () => Promise<unknown>>>) {
  const costs = new Map(Object.keys(works).map((name) => [name, { ms: [], cpuMs: [] } as Costs]))
  for (let turn = 0; turn < rounds; turn++)
    for (const [name, work] of Object.entries(works)) {
      const cpu = process.cpuUsage()
      const before = performance.now()
      await work()
      const own = costs.get(name)
      own?.ms.push(performance.now() - before)
      const { user, system } = process.cpuUsage(cpu)
      own?.cpuMs.push((user + system) / 1_000)
    }
  const inShort = (list: number[]) => {
    list.sort((a, b) => a - b)
    return { median: round(list[list.length >> 1] ?? 0), least: round(list[0] ?? 0) }
  }
  return Object.fromEntries(
    [...costs].map(([name, own]) => [name, { ms: inShort(own.ms), cpuMs: inShort(own.cpuMs) }]),
  )
}
type Costs = { readonly ms: number[]; readonly cpuMs: number[] }

/** A batch as a back-fill brings it: ten sensors' last hours. */
const fewSensors = (prepared: readonly Reading[][], i: number): Reading[] => {
  const wanted = new Set(
    Array.from({ length: 10 }, (_, n) => sensorId((i * 10 + n) % size.sensors)),
  )
  return prepared
    .flat()
    .filter(({ sensor }) => wanted.has(sensor))
    .slice(0, size.batch)
}

async function ofSqlite(): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'airproof-bench-'))
  try {
    await using store = await openSqliteStore({ file: join(folder, 'readings.db') })
    return await measure(store)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function ofInflux(): Promise<unknown> {
  const missing = await influxMissing()
  if (missing !== undefined) return { skipped: missing }
  await using influx = await testInflux()
  const { open } = await influx.newBucket()
  await using store = await open()
  return await measure(store)
}

const results: Record<string, unknown> = { size }
for (const engine of flags.engine) {
  results[engine] = engine === 'sqlite' ? await ofSqlite() : await ofInflux()
}
console.log(JSON.stringify(results, null, 2))
