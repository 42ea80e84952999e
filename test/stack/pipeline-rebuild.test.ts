/**
 * The log is the truth: a worker's state and everything behind the log come out of it again.
 *
 * Rebuilt from the log: the state, the store's rows, the statistics. Not rebuilt, because they are
 * copies told once: EVENTS and REJECTED, of which a start copies only those of the last message;
 * where they are still there it changes nothing.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, inject, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { evolve } from '../../core/state/evolve.ts'
import { createState, plainState } from '../../core/state/partition-state.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { recover } from '../../pipeline/log/recover.ts'
import { type RollUpRecord } from '../../pipeline/projections/roll-ups.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import { buckets, stateStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import type { AreaStats, Store } from '../../store/store.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { readEvents } from '../support/chaos/read-events.ts'
import { faultsOf, type Logged, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const messages = inject('soak') ? 60_000 : 4_000
const partitions = Array.from({ length: partitionCount }, (_, p) => p)

/** The state of an uninterrupted worker: the whole log, from nothing. */
function uninterrupted(logged: readonly Logged[], partition: number) {
  const state = createState(partition)
  for (const { seq, message } of logged) {
    if (message.partition === partition) evolve(state, message, seq)
  }
  return plainState(state)
}

async function recoveredStates(nc: NatsConnection) {
  return await Promise.all(partitions.map(async (p) => plainState((await recover(nc, p)).state)))
}

const snapshotSeqs = (nc: NatsConnection): Promise<readonly number[]> =>
  Promise.all(partitions.map(async (p) => (await readSnapshot(nc, p))?.state.readingsSeq ?? 0))

/** Waits until the statistics of every hour that was over at `nowMs` are written. */
async function untilRolledUp(nc: NatsConnection, lastSeq: number, nowMs: number): Promise<void> {
  const system = await new Kvm(nc).open(buckets.system)
  await eventually(
    'every closed hour has its statistics',
    async () => {
      const entry = await system.get(systemKeys.rollup)
      if (entry?.operation !== 'PUT') return false
      const record = entry.json<RollUpRecord>()
      if (record.position < lastSeq) return false
      return record.dirty.every(([, startMs]) => startMs + hourMs > nowMs)
    },
    { everyMs: 250 },
  )
}

async function hoursOf(store: Store, nowMs: number): Promise<readonly AreaStats[]> {
  const areas = [wholeNetwork, ...Array.from({ length: 7 }, (_, i) => `Area ${i}`)]
  const toMs = floorTo(nowMs, hourMs)
  const hours = await Promise.all(areas.map((area) => store.areaHours(area, toMs - dayMs, toMs)))
  return hours.flat()
}

test('snapshot and log give the uninterrupted state, and what is deleted comes back', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(120)
  await registerCity(nc, ids)
  const store = checkedSqlite(folder.path)
  const start = async () => {
    const started = await startPipeline({ natsUrl: nats.url, dataFolder: folder.path })
    resources.use(started)
    await started.untilReady()
    return started
  }
  const first = await start()
  const random = seeded(8)
  const odd = { lateShare: 0.05, repeatShare: 0.05, rubbishShare: 0.02, everyMs: 50, random }
  // half of the city lives now, half sends what it measured hours ago
  const [live, back] = [ids.slice(0, 60), ids.slice(60)]
  const sensors = [
    startSensors(nc, { ...odd, ids: live, everyMs: 200 }),
    startSensors(nc, { ...odd, ids: back, startMs: Date.now() - 6 * hourMs, stepMs: minuteMs }),
  ]
  await eventually('every partition has a snapshot', async () =>
    (await snapshotSeqs(nc)).every((seq) => seq > 0),
  )
  const sent = (): number => sensors.reduce((sum, one) => sum + one.acknowledged.length, 0)
  const sentBefore = sent()
  await eventually('the log goes on after them', () => sent() > sentBefore + messages / 2, {
    withinMs: 600_000,
  })
  await Promise.all(sensors.map((one) => one.stop()))
  const account = await untilJudged(nc)
  const reader = await store.open()
  const rows = plainRows(await untilStored(reader, account.accepted.length))
  expect(rows).toEqual(plainRows(account.accepted))
  const nowMs = Date.now()
  await untilRolledUp(nc, (await readLog(nc)).at(-1)?.seq ?? 0, nowMs)
  const hours = await hoursOf(reader, nowMs)
  expect(hours.length).toBeGreaterThan(8)
  await reader[Symbol.asyncDispose]()
  first.kill('SIGKILL')
  await first.exited

  const logged = await readLog(nc)
  expect(faultsOf(logged)).toEqual([])
  const whole = partitions.map((p) => uninterrupted(logged, p))
  const snapshots = await snapshotSeqs(nc)
  const withSnapshot = await recoveredStates(nc)
  // the clock of a quiet partition's snapshot runs ahead of its last message, and may
  const comparable = (states: readonly Readonly<Record<string, unknown>>[]) =>
    states.map((state) => ({ ...state, listenedMs: 0 }))
  expect(comparable(withSnapshot)).toEqual(comparable(whole))
  const events = await readEvents(nc)

  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(join(folder.path, `readings.sqlite${suffix}`), { force: true })
  }
  const manager = await jetstreamManager(nc)
  await manager.streams.purge(stateStream)
  await (await new Kvm(nc).open(buckets.system)).delete(systemKeys.rollup)
  expect(comparable(await recoveredStates(nc))).toEqual(comparable(whole))

  const rebuildMs = performance.now()
  await start()
  const rebuilt = resources.use(await store.open())
  expect(plainRows(await untilStored(rebuilt, rows.length))).toEqual(rows)
  const rowsBackMs = performance.now() - rebuildMs
  await untilRolledUp(nc, logged.at(-1)?.seq ?? 0, nowMs)
  expect(await hoursOf(rebuilt, nowMs)).toEqual(hours)
  expect(await readEvents(nc)).toEqual(events)
  printFigures('8 rebuild', {
    rows: rows.length,
    logMessages: logged.length,
    behindSnapshots: logged.filter(({ seq, message }) => seq > (snapshots[message.partition] ?? 0))
      .length,
    areaHours: hours.length,
    rowsBackMs: Math.round(rowsBackMs),
  })
})
