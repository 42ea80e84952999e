/** What the store answers when it is unwell, and what must not care. */
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { command as doctorCommand } from '../../cli/doctor/doctor.ts'
import { command as storeCommand } from '../../cli/store/store.ts'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { minuteMs } from '../../core/time.ts'
import { rejectedStream, rejectedSubject } from '../../schemas/subjects.ts'
import { openInfluxStore } from '../../store/influx/influx.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { pour } from '../support/chaos/pour.ts'
import { expectedEvents, untilCopied } from '../support/chaos/read-events.ts'
import { type LogAccount, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, readRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type CheckedStore, checkedInflux, checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ids = cityOf(200)
/** Its rows are what no engine takes. */
const poisonous = ids[7] ?? ids[0]
const readings = 4_000

async function refusedSubjects(nc: NatsConnection): Promise<string[]> {
  const manager = await jetstreamManager(nc)
  const { state } = await manager.streams.info(rejectedStream, {
    subjects_filter: 'air.rejected.store_refused.>',
  })
  return Object.keys(state.subjects ?? {}).toSorted()
}

async function expectAllButPoison(
  nc: NatsConnection,
  store: CheckedStore,
  { accepted }: LogAccount,
): Promise<number> {
  await using reader = await store.open()
  const bad = accepted.filter(({ sensor }) => sensor === poisonous)
  const good = accepted.filter(({ sensor }) => sensor !== poisonous)
  expect(bad.length).toBe(readings / ids.length)
  expect(plainRows(await untilStored(reader, good.length))).toEqual(plainRows(good))
  const listed = bad
    .map(({ seq }) =>
      rejectedSubject('store_refused', partitionOfSeq(seq), nOfSeq(seq), 0, poisonous ?? ''),
    )
    .toSorted()
  await eventually(
    'the poison is listed',
    async () => (await refusedSubjects(nc)).length === listed.length,
  )
  expect(await refusedSubjects(nc)).toEqual(listed)
  return bad.length
}

test('events and the log go on while the store is away, and it gets all of it later (SQLite)', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await registerCity(nc, ids)
  const store = checkedSqlite(folder.path)
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path }),
  )
  await pipeline.untilReady()
  const release = store.stall()
  const startMs = Date.now() - 20 * minuteMs
  await pour(nc, { ids, readings, random: seeded(4), startMs, stepMs: 1_000 })
  const account = await untilJudged(nc)
  const expected = expectedEvents(await readLog(nc))
  const copied = await untilCopied(nc, expected.length)
  expect(copied.filter(({ event }) => event.kind === 'rise').length).toBeGreaterThan(0)
  {
    await using reader = await store.open()
    expect(await readRows(reader)).toEqual([])
  }
  await eventually(
    'the metrics say how many readings the store lacks',
    async () => (await pipeline.sum('airproof_store_lag_readings')) === readings,
  )
  expect(await pipeline.sum('airproof_store_lag_seconds')).toBeGreaterThan(0)
  release()
  await using reader = await store.open()
  expect(plainRows(await untilStored(reader, readings))).toEqual(plainRows(account.accepted))
  await eventually(
    'the metrics say that nothing is missing',
    async () =>
      (await pipeline.sum('airproof_store_lag_readings')) === 0 &&
      (await pipeline.sum('airproof_store_lag_seconds')) === 0,
  )
  printFigures('4 store away', { engine: 'sqlite', readings, events: copied.length })
})

const missing = await influxMissing()
const patiently = { everyMs: 250 }

test.skipIf(missing !== undefined)(
  `a 503 fails that very write, which is made again, and poison rows are cut out (InfluxDB)${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const nats = resources.use(await testNats())
    const nc = await nats.connect()
    resources.defer(() => nc.close())
    await registerCity(nc, ids)
    const store = resources.use(await checkedInflux())
    // away until all is judged: what then waits is written in full batches
    store.proxy.decide(() => 'refuse')
    const answerInFull = (): void =>
      store.proxy.decide((_writes, body) => {
        const poisonLine = body.split('\n').find((line) => line.includes(`sensor_id=${poisonous} `))
        if (poisonLine !== undefined) return { unparsed: poisonLine }
        if (body.split('\n').length < 1_000 || refusedBodies.has(body)) return 'pass'
        refusedBodies.add(body)
        return 'refuse'
      })
    // each write of more lines than the client's own batch holds is answered 503 once
    const refusedBodies = new Set<string>()
    const startMs = Date.now() - 20 * minuteMs
    await pour(nc, { ids, readings, random: seeded(5), startMs, stepMs: 1_000 })
    const pipeline = resources.use(
      await startPipeline({ natsUrl: nats.url, dataFolder: folder.path, env: store.env }),
    )
    await pipeline.untilReady()
    const account = await untilJudged(nc)
    answerInFull()
    const poisoned = await expectAllButPoison(nc, store, account)
    expect(refusedBodies.size).toBeGreaterThan(0)
    printFigures('4 store answers', {
      engine: 'influx',
      readings,
      refusedWrites: refusedBodies.size,
      failedWrites: store.proxy.failed(),
      poisoned,
    })
  },
)

test.skipIf(missing !== undefined)(
  `a bucket that is deleted meanwhile keeps no reading from the log, and when it is made again gets them all from there (InfluxDB)${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const nats = resources.use(await testNats())
    const nc = await nats.connect()
    resources.defer(() => nc.close())
    await registerCity(nc, ids)
    const influx = resources.use(await testInflux())
    const bucket = await influx.newBucket()
    const place = { INFLUX_URL: influx.url, INFLUX_ORG: bucket.org, INFLUX_BUCKET: bucket.bucket }
    const secrets = join(folder.path, 'secrets')
    const setUp = () =>
      runCommand(storeCommand, {
        words: ['setup'],
        flags: {
          url: influx.url,
          'admin-token': influx.operatorToken,
          secrets,
          bucket: bucket.bucket,
        },
      })
    expect(await setUp()).toMatchObject({ code: 0, err: '' })
    const env = { ...place, INFLUX_TOKEN_FILE: join(secrets, 'influx-write-token') }
    const pipeline = resources.use(
      await startPipeline({ natsUrl: nats.url, dataFolder: join(folder.path, 'data'), env }),
    )
    await pipeline.untilReady()
    await using reader = await openInfluxStore({
      url: influx.url,
      org: bucket.org,
      bucket: bucket.bucket,
      token: influx.operatorToken,
    })
    const stored = () => readRows(reader)
    const startMs = Date.now() - 20 * minuteMs
    const send = (from: number, random: () => number) =>
      pour(nc, { ids, readings, random, startMs: startMs + from * minuteMs, stepMs: 1_000 })
    await send(0, seeded(6))
    await eventually('they are stored', async () => (await stored()).length === readings, patiently)

    await bucket.drop()
    await send(5, seeded(7))
    const { accepted } = await untilJudged(nc)
    expect(accepted).toHaveLength(2 * readings)
    await eventually(
      'writes fail',
      async () => ((await pipeline.metric('airproof_store_failures_total')) ?? 0) > 1,
    )
    expect(pipeline.isAlive()).toBe(true)
    const doctor = await runCommand(doctorCommand, {
      env: { NATS_URL: nats.url, AIRPROOF_DATA: join(folder.path, 'data'), ...env },
    })
    expect(doctor.out).toMatch(/^broken +store +.*not found.*`airproof store setup`/m)

    // the bucket has another id, so the token of before does not reach it
    const again = await setUp()
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('made again')])
    const missed = accepted.filter(({ timeMs }) => timeMs >= startMs + 5 * minuteMs)
    const rows = await eventually(
      'what came meanwhile is stored',
      async () => {
        const found = await stored()
        return found.length >= missed.length && found
      },
      patiently,
    )
    expect(plainRows(rows)).toEqual(plainRows(missed))
    expect(pipeline.isAlive()).toBe(true)
  },
)
