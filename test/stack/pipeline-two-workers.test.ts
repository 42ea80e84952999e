/** Two processes, one log: they share the partitions, and a stale one is shut out. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { readSnapshot } from '../../runtime/nats/read-snapshot.ts'
import { cityOf, registerCity } from '../support/chaos/city.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { partitionsHeld } from '../support/chaos/leases.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { copiedEvents, expectedEvents, untilCopied } from '../support/chaos/read-events.ts'
import { faultsOf, type Logged, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { plainRows, untilStored } from '../support/chaos/read-store.ts'
import { seeded } from '../support/chaos/seeded.ts'
import { startSensors } from '../support/chaos/sensors.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const countsHeld = async (nc: NatsConnection): Promise<string> =>
  [...(await partitionsHeld(nc)).values()].toSorted((a, b) => a - b).join('+')

const snapshotSeqs = (nc: NatsConnection): Promise<readonly number[]> =>
  Promise.all(
    Array.from(
      { length: partitionCount },
      async (_, p) => (await readSnapshot(nc, p))?.state.readingsSeq ?? 0,
    ),
  )

/** The instance that wrote a message: a worker's name without the number of its start. */
const instanceOf = ({ message }: Logged): string => message.worker.replace(/-\d+$/, '')

test('a stale worker is shut out and has written nothing that the log does not hold', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(160)
  await registerCity(nc, ids)
  // two data folders are two instances; one store for both
  const store = checkedSqlite(folder.path)
  const start = async (name: string) => {
    const dataFolder = join(folder.path, name)
    mkdirSync(dataFolder)
    symlinkSync(join(folder.path, 'readings.sqlite'), join(dataFolder, 'readings.sqlite'))
    return resources.use(await startPipeline({ natsUrl: nats.url, dataFolder }))
  }
  const stale = await start('first')
  await stale.untilReady()
  await eventually('the first holds all', async () => (await countsHeld(nc)) === '16')
  const sensors = startSensors(nc, {
    ids,
    random: seeded(5),
    everyMs: 500,
    lateShare: 0.02,
    repeatShare: 0.02,
  })
  const other = await start('second')
  await eventually('each holds half', async () => (await countsHeld(nc)) === '8+8')
  const [staleInstance = ''] = (await readLog(nc)).map(instanceOf)

  stale.kill('SIGSTOP')
  const stoppedMs = performance.now()
  await eventually('the second holds all', async () => (await countsHeld(nc)) === '16')
  const takenOverMs = performance.now() - stoppedMs
  await eventually(
    'it writes to every partition',
    async () => {
      const logged = await readLog(nc)
      const last = (p: number) => logged.findLast(({ message }) => message.partition === p)
      return Array.from({ length: partitionCount }, (_, p) => last(p)).every(
        (one) => one !== undefined && instanceOf(one) !== staleInstance,
      )
    },
    { everyMs: 250 },
  )
  const before = await readLog(nc)
  const lastBefore = before.at(-1)?.seq ?? 0
  const snapshotsBefore = await snapshotSeqs(nc)

  stale.kill('SIGCONT')
  expect(await stale.exited).toEqual({ code: 75, signal: null })
  const snapshotsAfter = await snapshotSeqs(nc)
  expect(snapshotsAfter.every((seq, p) => seq >= (snapshotsBefore[p] ?? 0))).toBe(true)
  await sensors.stop()

  const account = await untilJudged(nc)
  const logged = await readLog(nc)
  expect(faultsOf(logged)).toEqual([])
  expect(logged.filter((one) => one.seq > lastBefore && instanceOf(one) === staleInstance)).toEqual(
    [],
  )
  expect(account.accepted.length).toBe(sensors.acknowledged.length)
  const reader = resources.use(await store.open())
  expect(plainRows(await untilStored(reader, account.accepted.length))).toEqual(
    plainRows(account.accepted),
  )
  const expected = expectedEvents(logged)
  const copied = await untilCopied(nc, expected.length)
  expect(copiedEvents(copied).toSorted()).toEqual(expected.toSorted())
  expect(other.isAlive()).toBe(true)
  printFigures('5 two workers', {
    takenOverMs: Math.round(takenOverMs),
    staleSaid: stale.printed().at(-1)?.slice(0, 300),
    accepted: account.accepted.length,
    events: copied.length,
  })
})
