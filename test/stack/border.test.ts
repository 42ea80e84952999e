/**
 * The format level of a running instance rises to 3: readings get leaf 2 from one sequence of the log
 * on, whatever dies on the way.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { findBorder } from '../../core/state/border.ts'
import { messageAt } from '../../runtime/nats/stored-message.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { partitionsHeld } from '../support/chaos/leases.ts'
import { type PipelineProcess, startPipeline } from '../support/chaos/pipeline-process.ts'
import { faultsOf, type Logged, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { type Sensors, startSensors } from '../support/chaos/sensors.ts'
import { type CheckedStore, checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Place = AsyncDisposable & {
  readonly nc: NatsConnection
  readonly store: CheckedStore
  /** A pipeline with a data folder of its own and the one store. */
  readonly start: (name: string) => Promise<PipelineProcess>
  /** Between two writes to the store: a frozen process that holds its lock would stop all others. */
  readonly freeze: (pipeline: PipelineProcess) => Promise<void>
  readonly raise: () => Promise<void>
  readonly startSensors: () => Sensors
}

async function newPlace(sensorCount = 160): Promise<Place> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc, { newest: 2 })
  const ids = cityOf(sensorCount)
  await registerCity(nc, ids)
  const system = await new Kvm(nc).open(buckets.system)
  const resources = opened.move()
  return {
    nc,
    store: checkedSqlite(folder.path),
    start: async (name) => {
      const dataFolder = join(folder.path, name)
      mkdirSync(dataFolder, { recursive: true })
      const file = join(dataFolder, 'readings.sqlite')
      try {
        symlinkSync(join(folder.path, 'readings.sqlite'), file)
      } catch {
        // it is started again
      }
      const pipeline = await startPipeline({
        natsUrl: nats.url,
        dataFolder,
      })
      return resources.use(pipeline)
    },
    freeze: async (pipeline) => {
      using db = new DatabaseSync(join(folder.path, 'readings.sqlite'), { timeout: 10_000 })
      // what waits for this lock is not in a write
      db.exec('begin immediate')
      pipeline.kill('SIGSTOP')
      await eventually('it is frozen', () => stateOf(pipeline.pid).startsWith('T'))
      db.exec('rollback')
    },
    raise: async () => void (await system.put(systemKeys.format, '{"level":3}')),
    startSensors: () =>
      startSensors(nc, {
        ids,
        random: seeded(12),
        everyMs: 100,
        lateShare: 0.05,
        repeatShare: 0.02,
        rubbishShare: 0.01,
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** `T`: it is stopped. */
const stateOf = (pid: number): string =>
  execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim()

const untilHeld = (nc: NatsConnection, counts: string): Promise<unknown> =>
  eventually(`the partitions are held ${counts}`, async () => {
    const held = [...(await partitionsHeld(nc)).values()].toSorted((a, b) => a - b)
    return held.join('+') === counts
  })

const marksIn = (logged: readonly Logged[]): readonly Logged[] =>
  logged.filter(({ message }) => message.isMark === true)

const instanceOf = ({ message }: Logged): string => message.worker.replace(/-\d+$/, '')

const untilMarks = (nc: NatsConnection, count: number): Promise<readonly Logged[]> =>
  eventually(
    `the log has ${count} marks`,
    async () => {
      const marks = marksIn(await readLog(nc))
      return marks.length >= count && marks
    },
    // leases of two dead processes end, and another one starts, on a busy machine; each look reads the log
    { everyMs: 100 },
  )

/** Resolves when readings with leaf 2 are in the log of every partition that has sensors. */
const untilAbove = (nc: NatsConnection, partitions: number): Promise<unknown> =>
  eventually(
    'every partition has readings above the border',
    async () => {
      const logged = await readLog(nc)
      const above = logged.filter(({ message }) => message.leafVersion === 2)
      const withReadings = above.filter(({ message }) => message.readings.length > 0)
      return new Set(withReadings.map(({ message }) => message.partition)).size >= partitions
    },
    { everyMs: 250 },
  )

/** Nothing lost, doubled or refused; and one sequence parts the leaves. @returns it */
async function expectWhole({ nc, store }: Place, sensors: Sensors): Promise<number> {
  await sensors.stop()
  const account = await untilJudged(nc)
  const logged = await readLog(nc)
  expect(faultsOf(logged)).toEqual([])
  expect(account.accepted.length).toBe(sensors.acknowledged.length)
  expect(account.duplicates).toBeGreaterThanOrEqual(sensors.repeats())
  expect(account.refused.filter(({ reason }) => reason !== 'schema')).toEqual([])

  const marks = marksIn(logged)
  expect(marks.map(({ message }) => message.partition).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: partitionCount }, (_, partition) => partition),
  )
  const border = findBorder(logged) ?? 0
  expect(border).toBe(marks.at(-1)?.seq)
  const misplaced = logged.filter(({ seq, message }) =>
    message.readings.some(({ leafVersion = 1 }) => leafVersion !== (seq > border ? 2 : 1)),
  )
  expect(misplaced).toEqual([])
  const versions = logged.map(({ seq, message }) => [seq > border, message.leafVersion ?? 1])
  expect(versions.filter(([isAbove, version]) => isAbove !== (version === 2))).toHaveLength(
    partitionCount,
  )

  await using reader = await store.open()
  const rows = await untilStored(reader, account.accepted.length)
  expect(plainRows(rows)).toEqual(plainRows(account.accepted))
  return border
}

/** The longest time between the last commit of a partition below the border and its first above, ms. */
async function longestPause(nc: NatsConnection, border: number): Promise<number> {
  const logged = await readLog(nc)
  const storedMs = async (entry: Logged | undefined): Promise<number> =>
    (entry && (await messageAt(nc, readingsStream, entry.seq)))?.timeMs ?? Number.NaN
  const pauses = await Promise.all(
    Array.from({ length: partitionCount }, async (_, partition) => {
      const own = logged.filter(({ message }) => message.partition === partition)
      const last = own.findLast(({ message }) => message.leafVersion === undefined)
      const next = own.find(({ seq }) => seq > border)
      return (await storedMs(next)) - (await storedMs(last))
    }),
  )
  return Math.max(...pauses)
}

test.concurrent('under load on two pipelines: the log is whole, and one sequence parts the leaves', async () => {
  await using place = await newPlace()
  const { nc } = place
  await (await place.start('first')).untilReady()
  await (await place.start('second')).untilReady()
  await untilHeld(nc, '8+8')
  const sensors = place.startSensors()
  await eventually('readings are in the log', async () => (await readLog(nc)).length > 100)
  const raisedMs = performance.now()
  await place.raise()
  const marks = await untilMarks(nc, partitionCount)
  const markedMs = Math.round(performance.now() - raisedMs)
  await untilAbove(nc, partitionCount)
  const border = await expectWhole(place, sensors)
  expect(new Set(marks.map(instanceOf)).size).toBe(2)
  printFigures('the border', {
    raisedToLastMarkMs: markedMs,
    longestPauseMs: await longestPause(nc, border),
    accepted: sensors.acknowledged.length,
  })
})

test.concurrent('a worker dies after its mark, another before it, and one is a zombie: the others wait', async () => {
  await using place = await newPlace()
  const { nc } = place
  const zombie = await place.start('zombie')
  await zombie.untilReady()
  const killed = await place.start('killed')
  await killed.untilReady()
  await untilHeld(nc, '8+8')
  const sensors = place.startSensors()
  await eventually('readings are in the log', async () => (await readLog(nc)).length > 100)

  // its eight partitions get no mark as long as it has their leases
  await place.freeze(zombie)
  await place.raise()
  const marks = await untilMarks(nc, 1)
  const [instance = ''] = marks.map(instanceOf)
  killed.kill('SIGKILL')
  await killed.exited
  const before = await readLog(nc)
  const restarted = await place.start('killed')

  // it takes over all sixteen, marks those that lack one, and only then goes on
  await untilMarks(nc, partitionCount)
  await untilAbove(nc, partitionCount)
  zombie.kill('SIGCONT')
  expect(await zombie.exited).toEqual({ code: 75, signal: null })
  const border = await expectWhole(place, sensors)
  const logged = await readLog(nc)
  expect(marksIn(logged).every((one) => instanceOf(one) === instance)).toBe(true)
  const waited = logged.filter(({ seq }) => seq > (before.at(-1)?.seq ?? 0) && seq <= border)
  expect(waited.filter((one) => instanceOf(one) !== instance)).toEqual([])
  expect(restarted.isAlive()).toBe(true)
})

test.concurrent('the level was raised while no pipeline ran, and most partitions have no sensor', async () => {
  await using place = await newPlace(3)
  const { nc } = place
  const first = await place.start('only')
  await first.untilReady()
  const sensors = place.startSensors()
  await eventually('readings are in the log', async () => (await readLog(nc)).length > 5)
  await first.stop()
  await place.raise()
  const second = await place.start('only')
  await second.untilReady()
  await untilAbove(nc, 1)
  await second.stop()
  // what started above the border stays there
  await (await place.start('only')).untilReady()
  expect(await expectWhole(place, sensors)).toBeGreaterThan(0)
})

test.concurrent('an instance that is new at level 3 has no marks, and all its readings have leaf 2', async () => {
  await using place = await newPlace(40)
  const { nc } = place
  const system = await new Kvm(nc).open(buckets.system)
  await system.put(systemKeys.format, '{"level":3,"born":3}')
  await (await place.start('only')).untilReady()
  const sensors = place.startSensors()
  await untilAbove(nc, 1)
  await sensors.stop()
  const account = await untilJudged(nc)
  expect(account.accepted.length).toBe(sensors.acknowledged.length)
  expect(account.accepted.every(({ leafVersion }) => leafVersion === 2)).toBe(true)
  const logged = await readLog(nc)
  expect(marksIn(logged)).toEqual([])
  expect(findBorder(logged)).toBe(0)
})
