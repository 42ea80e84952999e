/** History moves from SQLite into InfluxDB and back while readings arrive, whatever is killed. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyStatistics } from '../../cli/store/copy-statistics.ts'
import { command } from '../../cli/store/store.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { environment } from '../../runtime/process/config.ts'
import { rollupBucketOf } from '../../store/influx/influx.ts'
import { sensorLine } from '../../store/influx/line-protocol.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import type { AreaStats, Store } from '../../store/store.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { pour } from '../support/chaos/pour.ts'
import { untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, readRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, type TestBucket, type TestInflux, testInflux } from '../support/influx.ts'
import { influxForwarder } from '../support/influx-forwarder.ts'
import { signInAs, testNats } from '../support/nats.ts'
import { readingOf } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const missing = await influxMissing()
const ids = cityOf(100)
const rounds = 120

const opened = new AsyncDisposableStack()
let influx: TestInflux
beforeAll(async () => {
  if (missing === undefined) influx = opened.use(await testInflux())
})
afterAll(() => opened.disposeAsync())

const influxEnv = ({ url, org, bucket, token }: TestBucket) => ({
  INFLUX_URL: url,
  INFLUX_ORG: org,
  INFLUX_BUCKET: bucket,
  INFLUX_TOKEN: token,
})

/** A city on SQLite with days of history. */
async function cityWithHistory() {
  const resources = new AsyncDisposableStack()
  const folder = resources.use(temporaryFolder()).path
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await registerCity(nc, ids)
  const bucket = await influx.newBucket()
  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const pipeline = await startPipeline({ natsUrl: nats.url, dataFolder: folder, env })
    resources.use(pipeline)
    return pipeline
  }
  const env = { NATS_URL: nats.url, ...signInAs('operator'), AIRPROOF_DATA: folder }
  const send = (readings: number, startMs: number, rate?: number): Promise<void> =>
    pour(nc, {
      ids,
      readings,
      random: seeded(9),
      startMs,
      stepMs: 20 * 60_000,
      ...(rate === undefined ? {} : { rate }),
    })
  const beganMs = floorTo(Date.now(), hourMs) - 3 * dayMs
  const copy = (from: string, to: string, over: Readonly<Record<string, string>> = {}) =>
    runCommand(command, {
      words: ['copy'],
      flags: { from, to, json: true },
      env: { ...env, ...influxEnv(bucket), ...over },
    })
  return {
    resources,
    folder,
    nats,
    nc,
    bucket,
    start,
    env,
    send,
    beganMs,
    copy,
    sqlite: () => openSqliteStore({ file: join(folder, 'readings.sqlite'), readOnly: true }),
  }
}

/** Of each hour of the network; the last digit of a mean may differ by engine. */
const plainHours = (rows: readonly AreaStats[]): readonly unknown[] =>
  rows.map(({ startMs, readings, failed, fields: { pm25, co2 } }) => [
    startMs,
    readings,
    failed,
    ...[pm25, co2].flatMap(({ n, mean, sd, p98 }) => [n, mean?.toFixed(6), sd?.toFixed(6), p98]),
  ])

/** Hours that are over, as they are computed from the store's rows. */
async function expectStatistics(store: Store, fromMs: number): Promise<void> {
  const toMs = floorTo(Date.now(), hourMs)
  const computed = plainHours(await store.computeBuckets(wholeNetwork, fromMs, toMs, 'hour'))
  expect(computed.length).toBeGreaterThan(40)
  const written = async () => plainHours(await store.areaHours(wholeNetwork, fromMs, toMs))
  await eventually(
    'every hour of the network is written',
    async () => isDeepStrictEqual(await written(), computed),
    { everyMs: 500 },
  )
}

test.skipIf(missing !== undefined)(
  `a copy that is killed continues, and the switch under load loses nothing, there and back ${missing ?? ''}`,
  async () => {
    const city = await cityWithHistory()
    await using _ = city.resources
    const { nc, bucket, beganMs, send, copy, start } = city
    const first = await start()
    await first.untilReady()
    await send(ids.length * rounds, beganMs)
    await untilJudged(nc)

    // without a copy the start is refused, with the command to run
    const refused = await start(influxEnv(bucket))
    expect((await refused.exited).code).toBe(1)
    expect(refused.printed().join('\n')).toContain(
      'run `airproof store copy --from sqlite --to influx`, then start again',
    )

    // sensors go on sending
    const sending = send(3_000, beganMs + rounds * 20 * 60_000, 250)
    await using target = await bucket.open()
    const killed = await startChild({
      command: process.execPath,
      args: ['bin/airproof.mjs', 'store', 'copy', '--from', 'sqlite', '--to', 'influx'],
      env: { ...environment(), ...city.env, ...influxEnv(bucket) },
      onLine: () => undefined,
    })
    await eventually('a part is copied', async () => (await readRows(target)).length > 0, {
      everyMs: 20,
    })
    killed.kill('SIGKILL')
    await killed.exited
    const whole = await copy('sqlite', 'influx')
    expect([whole.code, whole.err]).toEqual([0, expect.anything()])
    const { readings } = JSON.parse(whole.out) as { readings: { compared: number } }
    expect(readings.compared).toBeGreaterThanOrEqual(ids.length * rounds)
    // while a pipeline writes to the former store, none starts on the other one
    const early = await start(influxEnv(bucket))
    expect((await early.exited).code).toBe(75)
    expect(early.printed().join('\n')).toContain('a pipeline still runs on the former store')
    await sending
    await untilJudged(nc)
    await first.stop()
    // what nobody has stored yet: it is in the log, or in RAW
    await send(500, beganMs - dayMs)

    const second = await start(influxEnv(bucket))
    await second.untilReady()
    const { accepted } = await untilJudged(nc)
    expect(accepted.length).toBe(ids.length * rounds + 3_000 + 500)
    expect(plainRows(await untilStored(target, accepted.length))).toEqual(plainRows(accepted))
    await expectStatistics(target, beganMs - dayMs)

    // and back, into the file that has a part of it
    await second.stop()
    const back = await copy('influx', 'sqlite')
    expect([back.code, back.err]).toEqual([0, expect.anything()])
    const third = await start()
    await third.untilReady()
    await send(300, beganMs - 2 * dayMs)
    const all = (await untilJudged(nc)).accepted
    await using file = await city.sqlite()
    expect(plainRows(await untilStored(file, all.length))).toEqual(plainRows(all))
    await expectStatistics(file, beganMs - 2 * dayMs)
  },
)

test.skipIf(missing !== undefined)(
  `what is not a copy of it is never written over ${missing ?? ''}`,
  async () => {
    const city = await cityWithHistory()
    await using _ = city.resources
    const { nc, bucket, beganMs, send, copy, start } = city
    const pipeline = await start()
    await pipeline.untilReady()
    await send(2_000, beganMs)
    const { accepted } = await untilJudged(nc)
    await using file = await city.sqlite()
    await untilStored(file, accepted.length)
    const [row] = accepted
    if (row === undefined) throw new Error('nothing was accepted')

    const wrongWay = await copy('influx', 'sqlite')
    expect([wrongWay.code, wrongWay.err]).toEqual([
      1,
      expect.stringContaining('there is nothing to copy to it'),
    ])

    // of another city, and another reading under the same key
    for (const strange of [
      { ...readingOf({ timeMs: row.timeMs, pm25: 1, aqi: 4 }), seq: row.seq },
      { ...row, seq: row.seq + 1 },
    ]) {
      const other = await influx.newBucket()
      await using target = await other.open()
      await target.writeBatch([strange])
      const { code, err } = await copy('sqlite', 'influx', influxEnv(other))
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/the other one lacks|different readings/),
      ])
      expect(await target.at(strange.sensor, strange.timeMs)).toMatchObject({ seq: strange.seq })
    }

    // deleted after the first write
    let writes = 0
    const dropped = await influx.newBucket()
    await using forwarder = await influxForwarder(influx.url, async ({ url = '' }) => {
      if (url.startsWith('/api/v2/write') && ++writes === 1) await dropped.drop()
      return 'pass' as const
    })
    const lost = await copy('sqlite', 'influx', {
      ...influxEnv(dropped),
      INFLUX_URL: forwarder.url,
    })
    expect([lost.code, lost.err]).toEqual([1, expect.stringContaining('INFLUX_BUCKET')])

    const readOnly = await bucket.newReadToken()
    const weak = await copy('sqlite', 'influx', { INFLUX_TOKEN: readOnly })
    expect([weak.code, weak.err]).toEqual([1, expect.stringContaining('INFLUX_TOKEN')])
    const missingBucket = await copy('sqlite', 'influx', { INFLUX_BUCKET: 'gone' })
    expect([missingBucket.code, missingBucket.err]).toEqual([
      1,
      expect.stringContaining('run the same command again'),
    ])
  },
)

test.skipIf(missing !== undefined)(
  `a day of a sensor that is half written in InfluxDB is left out, and copied once it is whole ${missing ?? ''}`,
  async () => {
    using folder = temporaryFolder()
    const bucket = await influx.newBucket()
    await using source = await bucket.open()
    await using target = await openSqliteStore({ file: join(folder.path, 'readings.sqlite') })
    const dayStartMs = floorTo(Date.now(), dayMs) - 2 * dayMs
    const readings = [1, 2, 3].map((n) =>
      readingOf({ timeMs: dayStartMs + n * hourMs, pm25: 100 * n, co2: 40_000, seq: n }),
    )
    await source.writeBatch(readings)
    const [{ sensor }] = readings as [Reading]
    const days = await source.computeSensors([sensor], dayStartMs, dayStartMs + dayMs, 'day')
    // a reader finds some fields of a row before the others
    const line = sensorLine('sensor_1d', days[0]!).replace(/,pm25_max=[\d.]+/, '')
    const query = `org=${bucket.org}&bucket=${rollupBucketOf(bucket.bucket)}&precision=ms`
    const to = `${bucket.url}/api/v2/write?${query}`
    const headers = { authorization: `Token ${bucket.token}` }
    expect((await fetch(to, { method: 'POST', headers, body: line })).status).toBe(204)

    const copied = () =>
      copyStatistics({
        source,
        target,
        nowMs: Date.now(),
        insist: (work) => work(),
        onDone: () => undefined,
      })
    const ofDay = () =>
      target.statistics({
        of: { sensors: [sensor] },
        edges: [dayStartMs, dayStartMs + dayMs],
        steps: [0],
        fields: ['pm25', 'co2'],
        from: 'day',
        unwritten: new Set(),
        writtenFromMs: 0,
      })
    expect(await copied()).toMatchObject({ written: 0, changing: 1 })
    expect(await ofDay()).toEqual([])
    await source.writeSensorDays(days)
    expect(await copied()).toMatchObject({ written: 1, changing: 0 })
    expect(await ofDay()).toMatchObject([{ readings: 3, fields: { pm25: { n: 3, max: 3 } } }])
  },
)
