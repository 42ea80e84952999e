/**
 * From a sensor's publish to an API client and to a row that a reader of the store sees:
 * `node bench/latency.ts [--rate 2000] [--sensors 1000] [--seconds 20] [--engine sqlite]
 * [--sync always] [--singles 100] [--no-naive] [--no-stages] [--profile DIR]` prints one JSON document.
 *
 * - `ours`: the pipeline alone. Single readings on an idle machine first, then the rate; one reading in
 *   forty is watched, by querying the store until it is there. CPU is of whole processes, a reading.
 * - `stages`: once more with spans and an API: when each stage of a watched reading was reached, ms after
 *   its publish. Spans and the API cost time of their own, so these figures explain, and are not the result.
 * - `naive`: the textbook program (`pipeline-naive.ts`) at the same rate.
 *
 * `--sync always`: every write of NATS is on the disk before it is acknowledged; `default`: as the server
 * usually does, in the background.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SensorId } from '../core/air/sensor-id.ts'
import { createAccount, createKey, openAccountBook } from '../operate/account-book.ts'
import { startChild } from '../runtime/machine/child.ts'
import { environment } from '../runtime/process/config.ts'
import type { Span, SpanName } from '../runtime/trace.ts'
import { spokenSubject } from '../schemas/subjects.ts'
import type { Store } from '../store/store.ts'
import { superviseApi } from '../test/support/chaos/api-process.ts'
import { cityOf, registerCity } from '../test/support/chaos/city.ts'
import { startPipeline } from '../test/support/chaos/pipeline-process.ts'
import { seeded } from '../test/support/chaos/seeded.ts'
import {
  type CheckedStore,
  checkedInflux,
  checkedSqlite,
} from '../test/support/chaos/store-engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { testNats } from '../test/support/nats.ts'
import { cpuUsOf, drift, longBody, rounded } from './pipeline-city.ts'

const { values: flags } = parseArgs({
  allowNegative: true,
  options: {
    rate: { type: 'string', default: '2000' },
    sensors: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    engine: { type: 'string', default: 'sqlite' },
    sync: { type: 'string', default: 'always' },
    singles: { type: 'string', default: '100' },
    naive: { type: 'boolean', default: true },
    stages: { type: 'boolean', default: true },
    profile: { type: 'string' },
  },
})
const rate = Number(flags.rate)
const seconds = Number(flags.seconds)
const singles = Number(flags.singles)
const watchedShare = 40
/** Results are late by half of it; a shorter interval would take CPU from what is measured. */
const pollMs = 2
/** After that a reading is lost. */
const longestMs = 15_000
const singleEveryMs = 60
const warmUpSeconds = 3
const stagesSeconds = Math.min(seconds, 10)
const ids = cityOf(Number(flags.sensors))

type Watched = {
  readonly sensor: SensorId
  readonly timeMs: number
  /** ms since the epoch, with fractions */
  readonly publishedMs: number
  readonly ackMs: number
  /** Infinity: never. */
  readonly storedMs: number
  /** What the program under test numbered it. */
  readonly seq: number
}

type OnWatch = (reading: Pick<Watched, 'sensor' | 'timeMs'>) => void

const clockMs = (): number => performance.timeOrigin + performance.now()

/** NATS with a city registered, a store, and an empty data folder. */
async function openPlace() {
  await using opening = new AsyncDisposableStack()
  const dataFolder = mkdtempSync(join(tmpdir(), 'airproof-bench-'))
  opening.defer(() => rmSync(dataFolder, { recursive: true, force: true }))
  const nats = opening.use(await testNats({ syncAlways: flags.sync === 'always' }))
  const nc = await nats.connect('bench')
  opening.defer(() => nc.close())
  await registerCity(nc, ids)
  const store: CheckedStore =
    flags.engine === 'influx' ? await checkedInflux({ isDirect: true }) : checkedSqlite(dataFolder)
  opening.use(store)
  const all = opening.move()
  return { nats, nc, store, dataFolder, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Publishes readings, all newer than those before of their sensors. */
function openSensors(nc: NatsConnection, reader: Pick<Store, 'at'>) {
  const random = seeded(2)
  let sent = 0
  const next = () => {
    const place = sent % ids.length
    const sensor = ids[place]
    if (sensor === undefined) throw new RangeError('a city without sensors')
    const timeMs = Date.now()
    const body = longBody(sensor, timeMs, drift(place, Math.floor(sent / ids.length), random))
    sent++
    return { sensor, timeMs, subject: spokenSubject(sensor), body }
  }
  return {
    publish: (): void => {
      const { subject, body } = next()
      nc.publish(subject, body)
    },
    watch: async (onPublish?: OnWatch): Promise<Watched> => {
      const { sensor, timeMs, subject, body } = next()
      onPublish?.({ sensor, timeMs })
      const publishedMs = clockMs()
      const acknowledged = nc.request(subject, body, { timeout: 10_000 }).then(clockMs)
      for (;;) {
        const row = await reader.at(sensor, timeMs).catch(() => undefined)
        const isLost = clockMs() - publishedMs > longestMs
        if (row === undefined && !isLost) {
          await pause(pollMs)
          continue
        }
        const storedMs = isLost ? Infinity : clockMs()
        const ackMs = await acknowledged
        return { sensor, timeMs, publishedMs, ackMs, storedMs, seq: row?.seq ?? -1 }
      }
    },
  }
}

type Sensors = ReturnType<typeof openSensors>

/** Calls back after the warm-up, and when all is sent. @returns those watched after the warm-up */
async function sendAtRate(
  sensors: Sensors,
  forSeconds: number,
  on: {
    readonly onStart?: () => unknown
    readonly onWatch?: OnWatch
    readonly onEnd?: () => unknown
  },
): Promise<readonly Watched[]> {
  const watching: Promise<Watched>[] = []
  const warmUp = rate * warmUpSeconds
  const total = warmUp + rate * forSeconds
  const beganMs = performance.now()
  for (let i = 0; i < total; i++) {
    if (i === warmUp) void on.onStart?.()
    if (i % watchedShare === 0) watching.push(sensors.watch(on.onWatch))
    else sensors.publish()
    const aheadMs = (i / rate) * 1_000 - (performance.now() - beganMs)
    if (aheadMs > 1) await pause(aheadMs)
  }
  await on.onEnd?.()
  return (await Promise.all(watching)).slice(warmUp / watchedShare)
}

function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (percent: number): number =>
    rounded(
      sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0,
      1,
    )
  return { count: sorted.length, p50: at(50), p90: at(90), p99: at(99), max: at(100) }
}
const delays = (watched: readonly Watched[]) => {
  const stored = watched.filter(({ storedMs }) => Number.isFinite(storedMs))
  return {
    publishToAckMs: percentiles(watched.map(({ publishedMs, ackMs }) => ackMs - publishedMs)),
    publishToStoreMs: percentiles(
      stored.map(({ publishedMs, storedMs }) => storedMs - publishedMs),
    ),
    lost: watched.length - stored.length,
  }
}

/** CPU a reading between `onStart` and `onEnd`. */
function cpuMeter(pids: Readonly<Record<string, () => number>>) {
  const read = () => Object.entries(pids).map(([name, pid]) => [name, cpuUsOf(pid())] as const)
  let before: Readonly<Record<string, number>> = {}
  return {
    start: (): void => {
      before = Object.fromEntries(read())
    },
    perReading: (count: number): Readonly<Record<string, number>> =>
      Object.fromEntries(
        read().map(([name, us]) => [name, rounded((us - (before[name] ?? 0)) / count)]),
      ),
  }
}

async function ours() {
  await using place = await openPlace()
  await using resources = new AsyncDisposableStack()
  const { nats, nc, store, dataFolder } = place
  const nodeArgs =
    flags.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${flags.profile}`]
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder, env: store.env, nodeArgs }),
  )
  await pipeline.untilReady()
  const reader = resources.use(await store.open())
  const sensors = openSensors(nc, reader)
  const idle: Watched[] = []
  for (let i = 0; i < singles; i++) {
    idle.push(await sensors.watch())
    await pause(singleEveryMs)
  }
  const meter = cpuMeter({ pipelineCpuUs: () => pipeline.pid, natsCpuUs: nats.pid })
  const count = async (name: string): Promise<number> => (await pipeline.metric(name)) ?? 0
  let commits = 0
  let cpu: Readonly<Record<string, number>> = {}
  const watched = await sendAtRate(sensors, seconds, {
    onStart: async () => {
      meter.start()
      commits = await count('airproof_commits_total')
    },
    onEnd: async () => {
      cpu = meter.perReading(rate * seconds)
      commits = (await count('airproof_commits_total')) - commits
    },
  })
  return {
    idle: delays(idle),
    ...delays(watched),
    ...cpu,
    commitsPerSecond: Math.round(commits / seconds),
  }
}

/** A client that asks the API, and sees a reading as soon as it is answered with it. */
async function openClient(url: string, nc: NatsConnection) {
  const book = await openAccountBook(nc)
  const nowMs = Date.now()
  const account = await createAccount(book, {
    email: 'bench@example.org',
    name: 'bench',
    tier: 'premium',
    nowMs,
    isConfirmed: true,
  })
  const { key } = await createKey(book, { account: account.id, name: 'bench', nowMs })
  const latest = async (sensor: SensorId): Promise<number> => {
    const response = await fetch(`${url}/v1/sensors/${sensor}/status`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const [, text] = /"last_reading":"([^"]+)"/.exec(await response.text()) ?? []
    return text === undefined ? 0 : Date.parse(text)
  }
  return {
    /** @returns ms since the epoch */
    seen: async (sensor: SensorId, timeMs: number): Promise<number> => {
      const untilMs = clockMs() + longestMs
      while ((await latest(sensor).catch(() => 0)) < timeMs) {
        if (clockMs() > untilMs) throw new Error(`the API does not show ${sensor} at ${timeMs}`)
        await pause(pollMs)
      }
      return clockMs()
    },
  }
}

/** The spans of each reading, by its seq. */
function spansBySeq(spans: readonly Span[], name: SpanName): (seq: number) => Span | undefined {
  const ranges = spans
    .filter((span) => span.name === name)
    .flatMap((span) => (span.seqs ?? []).map(([first, last]) => ({ first, last, span })))
    .toSorted((a, b) => a.first - b.first)
  return (seq) => {
    const after = ranges.findIndex(({ last }) => last >= seq)
    const range = ranges[after]
    return range !== undefined && range.first <= seq ? range.span : undefined
  }
}

async function stages() {
  await using place = await openPlace()
  await using resources = new AsyncDisposableStack()
  const { nats, nc, store, dataFolder } = place
  const spansFile = join(dataFolder, 'spans.ndjson')
  const pipeline = resources.use(
    await startPipeline({
      natsUrl: nats.url,
      dataFolder,
      env: { ...store.env, BENCH_SPANS: spansFile },
      nodeArgs: ['--import', './bench/keep-spans.ts'],
    }),
  )
  await pipeline.untilReady()
  const reader = resources.use(await store.open())
  const api = resources.use(await superviseApi({ natsUrl: nats.url, dataFolder, env: store.env }))
  const client = await openClient(api.url, nc)
  const sensors = openSensors(nc, reader)
  const seen: Promise<number>[] = []
  const watched = await sendAtRate(sensors, stagesSeconds, {
    onWatch: ({ sensor, timeMs }) => seen.push(client.seen(sensor, timeMs)),
  })
  const seenMs = (await Promise.all(seen)).slice(-watched.length)
  await pipeline.stop()
  const spans = readFileSync(spansFile, 'utf8')
    .split('\n')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `keep-spans.ts` wrote them
    .map((line) => JSON.parse(line) as Span)
  const [batch, commit, write] = [
    spansBySeq(spans, 'batch'),
    spansBySeq(spans, 'commit'),
    spansBySeq(spans, 'store_write'),
  ]
  const since = (atMs: (one: Watched, place: number) => number | undefined) =>
    percentiles(
      watched.flatMap((one, i) => {
        const ms = atMs(one, i)
        return ms === undefined ? [] : [ms - one.publishedMs]
      }),
    )
  const writes = spans.filter(({ name }) => name === 'store_write')
  return {
    rawAckMs: since(({ ackMs }) => ackMs),
    judgingMs: since(({ seq }) => batch(seq)?.startMs),
    committingMs: since(({ seq }) => commit(seq)?.startMs),
    committedMs: since(({ seq }) => commit(seq)?.endMs),
    visibleMs: since((_, i) => seenMs[i]),
    writingMs: since(({ seq }) => write(seq)?.startMs),
    writtenMs: since(({ seq }) => write(seq)?.endMs),
    readMs: since(({ storedMs }) => storedMs),
    commitTookMs: percentiles(
      spans.filter(({ name }) => name === 'commit').map(({ startMs, endMs }) => endMs - startMs),
    ),
    storeWritesPerSecond: Math.round(writes.length / (stagesSeconds + warmUpSeconds)),
  }
}

async function naive() {
  await using place = await openPlace()
  await using resources = new AsyncDisposableStack()
  const { nats, nc, store, dataFolder } = place
  const lines: string[] = []
  const child = resources.use(
    await startChild({
      command: process.execPath,
      args: ['bench/pipeline-naive.ts'],
      env: {
        ...environment(),
        NATS_URL: nats.url,
        AIRPROOF_DATA: dataFolder,
        BENCH_READINGS: String(rate * (seconds + warmUpSeconds)),
        ...store.env,
      },
      onLine: (line) => lines.push(line),
    }),
  )
  await eventually('the naive program works', () => lines.includes('ready'))
  const meter = cpuMeter({ programCpuUs: () => child.pid, natsCpuUs: nats.pid })
  let cpu: Readonly<Record<string, number>> = {}
  const reader = resources.use(await store.open())
  const watched = await sendAtRate(openSensors(nc, reader), seconds, {
    onStart: () => meter.start(),
    onEnd: () => {
      cpu = meter.perReading(rate * seconds)
    },
  })
  await child.exited
  return { ...delays(watched), ...cpu }
}

const ourFigures = await ours()
const stageFigures = flags.stages ? await stages() : undefined
const naiveFigures = flags.naive ? await naive() : undefined
process.stdout.write(
  `${JSON.stringify(
    {
      bench: 'latency',
      engine: flags.engine,
      sync: flags.sync,
      rate,
      seconds,
      sensors: ids.length,
      ours: ourFigures,
      ...(stageFigures && { stages: stageFigures }),
      ...(naiveFigures && { naive: naiveFigures }),
    },
    null,
    2,
  )}\n`,
)
