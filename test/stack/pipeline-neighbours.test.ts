/** A sensor that is unlike the others around it: judged over all partitions, in the log, and in its flags. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { collectFindings } from '../../anchor/audit/findings.ts'
import { checkNeighbours } from '../../cli/audit/neighbour-faults.ts'
import { namesOf } from '../../core/air/quality.ts'
import { partitionOf, type SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { NeighbourVerdict } from '../../core/state/log-message.ts'
import { floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { readHeader } from '../../runtime/nats/log-messages.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { buckets, readingsStream, readingsSubject, spokenSubject } from '../../schemas/subjects.ts'
import { tasks } from '../../schemas/system-keys.ts'
import { bodyOf, cityOf, registerCity } from '../support/chaos/city.ts'
import { partitionsHeld } from '../support/chaos/leases.ts'
import { startPipeline } from '../support/chaos/pipeline-process.ts'
import { faultsOf, readLog, untilJudged } from '../support/chaos/read-log.ts'
import { commitMessage } from '../support/commit-message.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { type TestPipeline, testPipeline } from '../support/pipeline.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const stepMs = 10 * minuteMs

const entryOf = (id: SensorId, index: number, more: object = {}) => ({
  id,
  cadence_seconds: 600,
  sites: [
    {
      from: '2024-01-01T00:00:00Z',
      area: 'Ikeja',
      lat: 6.5 + index / 1_000,
      lon: 3.4,
      address: '1 Road',
    },
  ],
  created_at: '2024-01-01T00:00:00Z',
  ...more,
})

const verdictsOf = async (pipeline: TestPipeline): Promise<readonly NeighbourVerdict[]> =>
  (await pipeline.judged()).flatMap(({ neighbours = [] }) => neighbours)

const untilVerdicts = (pipeline: TestPipeline, count: number) =>
  eventually(`${count} verdicts are in the log`, async () => {
    const verdicts = await verdictsOf(pipeline)
    return verdicts.length >= count && verdicts
  })

test('is in the log once, flags its readings until it is like them again, and is an event', async () => {
  await using pipeline = await testPipeline()
  const ids = cityOf(12)
  const [drifting, repaired, indoors] = [ids[2]!, ids[5]!, ids[8]!]
  await pipeline.register(
    ...ids.map((id, index) => entryOf(id, index, id === indoors ? { indoor: true } : {})),
  )
  const nowMs = floorTo(Date.now(), stepMs)
  const feed = async (fromMs: number, toMs: number, broken: readonly SensorId[]): Promise<void> => {
    for (let timeMs = fromMs; timeMs < toMs; timeMs += stepMs) {
      const minutes = timeMs / minuteMs
      await Promise.all(
        ids.map((id, index) =>
          pipeline.publish(id, {
            timestamp: formatIso(timeMs),
            pm25: 20 + index + (minutes % 7) + (broken.includes(id) ? 90 : 0),
          }),
        ),
      )
      // no partition may lag the others by hours of the readings' own time
      await pipeline.judged()
    }
  }
  await feed(nowMs - 6 * hourMs, nowMs - 3 * hourMs, [drifting, repaired, indoors])
  const unlike = await untilVerdicts(pipeline, 2)
  expect(unlike.map(({ sensor }) => sensor).toSorted()).toEqual([drifting, repaired].toSorted())
  for (const { among } of unlike) {
    expect(among).toHaveLength(8)
    expect(among).not.toContain(indoors)
  }

  await pipeline.stop()
  await pipeline.start()
  await feed(nowMs - 3 * hourMs, nowMs, [drifting, indoors])
  const all = await untilVerdicts(pipeline, 3)
  expect(all.slice(2)).toMatchObject([{ sensor: repaired, among: [] }])
  const next = { timestamp: formatIso(Date.now()), pm25: 33 }
  await Promise.all(ids.map((id) => pipeline.publish(id, next)))

  const flagsOf = async (id: SensorId) =>
    (await pipeline.outcomeOf(id)).accepted.map(({ flags }) =>
      namesOf(flags).includes('pm_unlike_neighbours'),
    )
  expect((await flagsOf(drifting)).at(-1)).toBe(true)
  expect((await flagsOf(repaired)).at(-1)).toBe(false)
  expect((await flagsOf(repaired)).some(Boolean)).toBe(true)
  for (const id of ids.filter((id) => id !== drifting && id !== repaired))
    expect(await flagsOf(id)).not.toContain(true)
  expect((await pipeline.outcomeOf(drifting)).events).toContainEqual(
    expect.objectContaining({ kind: 'quality', previous_level: 'good', level: 'suspect' }),
  )
  // what was reported again after the restart differed from nothing
  expect(await verdictsOf(pipeline)).toHaveLength(3)

  await pipeline.stop()
  const audited = async () => {
    const findings = collectFindings()
    const words = await checkNeighbours(pipeline.nc, () => undefined, findings)
    return { words, found: findings.list().map((finding) => `${finding.kind}: ${finding.words}`) }
  }
  const words = (count: number) => [
    `${count} verdicts on neighbours were decided again from the log`,
  ]
  expect(await audited()).toEqual({ words: words(2), found: [] })
  const [{ endMs, readingsTo } = unlike[0]!] = unlike
  const partition = partitionOf(ids[0]!)
  const stored = await lastMessage(pipeline.nc, readingsStream, readingsSubject(partition))
  const { nLast } = readHeader(stored!.subject, stored!.headers)
  await commitMessage(pipeline.nc, {
    partition,
    nLast,
    leafVersion: 2,
    rules: 1,
    neighbours: [
      { sensor: ids[0]!, endMs, readingsTo, among: ids.slice(3, 6) },
      { sensor: drifting, endMs, readingsTo, among: [ids[0]!, cityOf(13)[12]!] },
    ],
  })
  expect(await audited()).toEqual({
    words: words(4),
    found: [
      `rules: ${ids[0]} at ${formatIso(endMs)}: the log says that it is unlike its neighbours, and its readings do not`,
      `rules: ${drifting} at ${formatIso(endMs)}: the log says that it is unlike its neighbours, but does not have two hours of each of them`,
    ],
  })
})

test('one process judges: killed, another does, and nothing is in the log twice', async () => {
  using folder = temporaryFolder()
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  const ids = cityOf(12)
  await registerCity(nc, ids)
  const start = async (name: string) => {
    const dataFolder = join(folder.path, name)
    mkdirSync(dataFolder)
    // two instances, one store
    symlinkSync(join(folder.path, 'readings.sqlite'), join(dataFolder, 'readings.sqlite'))
    return resources.use(await startPipeline({ natsUrl: nats.url, dataFolder }))
  }
  const leases = await new Kvm(nc).open(buckets.leases)
  const holder = async () => (await leases.get(tasks.neighbours))?.string()
  const first = await start('first')
  await first.untilReady()
  const firstHolder = await eventually('the first judges', holder)
  await start('second')
  await eventually('each holds half', async () =>
    [...(await partitionsHeld(nc)).values()].every((count) => count === 8),
  )
  expect(await holder()).toBe(firstHolder)

  const [drifting, repaired] = [ids[2]!, ids[5]!]
  const nowMs = floorTo(Date.now(), stepMs)
  const feed = async (fromMs: number, toMs: number, broken: readonly SensorId[]): Promise<void> => {
    for (let timeMs = fromMs; timeMs < toMs; timeMs += stepMs) {
      for (const [index, id] of ids.entries()) {
        const pm25 = 2_000 + 100 * index + ((timeMs / minuteMs) % 7)
        const values = { pm25: broken.includes(id) ? pm25 + 9_000 : pm25 }
        await jetstream(nc).publish(spokenSubject(id), bodyOf(id, timeMs, values))
      }
      await untilJudged(nc)
    }
  }
  const untilLogged = (count: number) =>
    eventually(
      `${count} verdicts are in the log`,
      async () => {
        const verdicts = (await readLog(nc)).flatMap(({ message }) => message.neighbours ?? [])
        return verdicts.length >= count && verdicts
      },
      { everyMs: 250 },
    )
  await feed(nowMs - 6 * hourMs, nowMs - 3 * hourMs, [drifting, repaired])
  await untilLogged(2)
  first.kill('SIGKILL')
  await first.exited
  await feed(nowMs - 3 * hourMs, nowMs, [drifting])
  const verdicts = await untilLogged(3)
  expect(await holder()).not.toBe(firstHolder)
  const among = (id: SensorId) =>
    verdicts.filter(({ sensor }) => sensor === id).map((verdict) => verdict.among.length)
  expect([verdicts.length, among(drifting), among(repaired)]).toEqual([3, [8], [8, 0]])
  expect(faultsOf(await readLog(nc))).toEqual([])
  const findings = collectFindings()
  await checkNeighbours(nc, () => undefined, findings)
  expect(findings.list()).toEqual([])
})
