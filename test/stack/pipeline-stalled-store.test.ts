/** The store takes nothing for a while, and readings keep coming. */
import { expect, inject, test } from 'vitest'
import { partitionOfSeq } from '../../core/air/reading.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { pour } from '../support/chaos/pour.ts'
import { accountOf, faultsOf, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { readRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const stalledMs = inject('soak') ? 60 * secondMs : 3 * secondMs
const rate = 20_000
/** What the store writer may hold, and one more message that it may be given. */
const mostWaiting = 50_000 + 2_000

test('a stalled store costs bounded memory and is caught up with without a restart', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(1_000)
  await registerCity(nc, ids)
  const store = checkedSqlite(folder.path)
  const pipeline = resources.use(
    await startPipeline({ natsUrl: nats.url, dataFolder: folder.path, env: store.env }),
  )
  await pipeline.untilReady()
  const random = seeded(3)
  const startMs = Date.now() - 25 * minuteMs
  // what the same load costs with a healthy store is not the stall's
  const first = rate
  await pour(nc, { ids, readings: first, random, startMs, stepMs: 500, rate })
  const reader = resources.use(await store.open())
  await untilStored(reader, first)

  const rssMb = async (): Promise<number> =>
    ((await pipeline.metric('process_resident_memory_bytes')) ?? 0) / 1e6
  const waiting = async (): Promise<number> =>
    (await pipeline.metric('airproof_store_waiting_rows')) ?? 0
  const before = await rssMb()
  let mostRss = before
  let mostRows = 0
  const look = async (): Promise<void> => {
    mostRss = Math.max(mostRss, await rssMb())
    mostRows = Math.max(mostRows, await waiting())
  }

  const release = store.stall()
  const readings = (rate * stalledMs) / secondMs
  let isPouring = true
  const poured = pour(nc, {
    ids,
    readings,
    random,
    startMs: startMs + minuteMs,
    stepMs: 500,
    rate,
  }).finally(() => {
    isPouring = false
  })
  while (isPouring) {
    await look()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await poured
  const account = await untilJudged(nc)
  await look()
  expect(account.accepted.length).toBe(first + readings)
  // the log went on although the store took nothing, further than memory would reach
  expect((await readRows(reader)).length).toBe(first)
  expect(mostRows).toBeGreaterThan(mostWaiting / 2)
  expect(mostRows).toBeLessThanOrEqual(mostWaiting)

  const releasedMs = performance.now()
  release()
  const rows = await untilStored(reader, first + readings)
  const caughtUpMs = performance.now() - releasedMs
  await look()
  expect(pipeline.isAlive()).toBe(true)
  const logged = await readLog(nc)
  expect(faultsOf(logged)).toEqual([])
  const seqs = new Set(rows.map(({ seq }) => seq))
  expect(seqs.size).toBe(rows.length)
  expect(accountOf(logged).accepted.filter(({ seq }) => !seqs.has(seq))).toEqual([])
  printFigures('3 stalled store', {
    stalledMs,
    rate,
    readings,
    mostWaitingRows: mostRows,
    rssBeforeMb: Math.round(before),
    rssGrowthMb: Math.round(mostRss - before),
    caughtUpMs: Math.round(caughtUpMs),
    partitions: new Set(rows.map(({ seq }) => partitionOfSeq(seq))).size,
  })
})
