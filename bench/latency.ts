/**
 * From a sensor's publish to a row that a reader of the store sees:
 * `node bench/latency.ts [--rate 2000] [--sensors 1000] [--seconds 20] [--engine sqlite]` prints
 * one JSON document. Every write of NATS is on the disk before it is acknowledged. One reading in
 * forty is watched, by querying the store until it is there.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { spokenSubject } from '../schemas/subjects.ts'
import { cityOf, registerCity } from '../test/support/chaos/city.ts'
import { startPipeline } from '../test/support/chaos/pipeline-process.ts'
import { seeded } from '../test/support/chaos/seeded.ts'
import { checkedInflux, checkedSqlite } from '../test/support/chaos/store-engines.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, drift, longBody, rounded } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '2000' },
    sensors: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    engine: { type: 'string', default: 'sqlite' },
  },
})
const rate = Number(flags.rate)
const seconds = Number(flags.seconds)
const watchedShare = 40
/** Results are late by half of it; a shorter interval would take CPU from what is measured. */
const pollMs = 2
const warmUpSeconds = 3

await using resources = new AsyncDisposableStack()
const dataFolder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
resources.defer(() => rmSync(dataFolder, { recursive: true, force: true }))
const nats = resources.use(await testNats({ syncAlways: true }))
const nc = await nats.connect('bench')
resources.defer(() => nc.close())
const ids = cityOf(Number(flags.sensors))
await registerCity(nc, ids)
const store =
  flags.engine === 'influx' ? await checkedInflux({ isDirect: true }) : checkedSqlite(dataFolder)
resources.use(store)
const pipeline = resources.use(
  await startPipeline({ natsUrl: nats.url, dataFolder, env: store.env }),
)
await pipeline.untilReady()
const reader = resources.use(await store.open())

const toAckMs: number[] = []
const toStoreMs: number[] = []
const watching: Promise<void>[] = []
const random = seeded(2)

async function watch(place: number, timeMs: number, body: string, isCounted: boolean) {
  const sensor = ids[place]
  if (sensor === undefined) throw new RangeError('a city without sensors')
  const beganMs = performance.now()
  const acknowledged = nc.request(spokenSubject(sensor), body, { timeout: 10_000 }).then(() => {
    if (isCounted) toAckMs.push(performance.now() - beganMs)
  })
  while ((await reader.at(sensor, timeMs).catch(() => undefined)) === undefined) await pause(pollMs)
  if (isCounted) toStoreMs.push(performance.now() - beganMs)
  await acknowledged
}

const total = rate * (seconds + warmUpSeconds)
const beganMs = performance.now()
let cpuBefore = 0
let natsBefore = 0
let commitsBefore = 0
const commits = async (): Promise<number> => (await pipeline.metric('airproof_commits_total')) ?? 0
for (let i = 0; i < total; i++) {
  const place = i % ids.length
  const timeMs = Date.now()
  const sensor = ids[place]
  if (sensor === undefined) throw new RangeError('a city without sensors')
  const round = Math.floor(i / ids.length)
  const body = longBody(sensor, timeMs, drift(place, round, random))
  const isCounted = i >= rate * warmUpSeconds
  if (isCounted && cpuBefore === 0) {
    cpuBefore = cpuUsOf(pipeline.pid)
    natsBefore = cpuUsOf(nats.pid())
    commitsBefore = await commits()
  }
  if (i % watchedShare === 0) watching.push(watch(place, timeMs, body, isCounted))
  else nc.publish(spokenSubject(sensor), body)
  const aheadMs = (i / rate) * 1_000 - (performance.now() - beganMs)
  if (aheadMs > 1) await pause(aheadMs)
}
const cpuUs = cpuUsOf(pipeline.pid) - cpuBefore
const natsUs = cpuUsOf(nats.pid()) - natsBefore
const committed = (await commits()) - commitsBefore
await Promise.all(watching)

function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (percent: number): number =>
    rounded(
      sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0,
      1,
    )
  return { count: sorted.length, p50: at(50), p90: at(90), p99: at(99), max: at(100) }
}
process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'latency',
      engine: flags.engine,
      rate,
      seconds,
      sensors: ids.length,
      sync: 'always',
      publishToAckMs: percentiles(toAckMs),
      publishToStoreMs: percentiles(toStoreMs),
      pipelineCpuUs: rounded(cpuUs / (rate * seconds)),
      natsCpuUs: rounded(natsUs / (rate * seconds)),
      commitsPerSecond: Math.round(committed / seconds),
    },
    null,
    2,
  )}\n`,
)
