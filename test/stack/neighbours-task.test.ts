/** Where the task of neighbours begins in the log, and what it finds there. */
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { judgeNeighbours } from '../../pipeline/neighbours/judge-neighbours.ts'
import type { Judged } from '../../pipeline/neighbours/reports.ts'
import { readRowsOf } from '../../pipeline/read-rows.ts'
import { RowsAtHand } from '../../pipeline/rows-at-hand.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { readingsStream } from '../../schemas/subjects.ts'
import { commitMessage } from '../support/commit-message.ts'
import { believed, idsOf, partition } from '../support/decided.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'

const ids = idsOf(6)
const sensors = ids.map(
  (id, index): RegisteredSensor => ({
    id,
    cadenceMs: 10 * minuteMs,
    sites: [{ fromMs: 0, area: 'Ikeja', lat: 6.5 + index / 1_000, lon: 3.4, address: '' }],
  }),
)

test('a log that was trimmed within two hours is said to be, and not judged; the whole is', async () => {
  await using resources = new AsyncDisposableStack()
  const nats = resources.use(await testNats())
  const nc = await nats.connect()
  resources.defer(() => nc.close())
  await ensureStreams(nc)
  const nowMs = floorTo(Date.now(), 10 * minuteMs)
  let nLast = 0
  for (let timeMs = nowMs - 3 * hourMs; timeMs < nowMs; timeMs += 10 * minuteMs) {
    const readings = ids.map((sensor, index) => {
      const {
        rawSeq: _,
        item: __,
        ...reading
      } = believed({
        sensor,
        timeMs,
        pm25: index === 4 ? 20_000 : 2_000 + index,
      })
      return { ...reading, seq: seqOf(partition, ++nLast), leafVersion: 2 as const }
    })
    await commitMessage(nc, { partition, nLast, readings, leafVersion: 2, rules: 1 })
  }
  const run = async (until: (seen: { reported: Judged[]; trimmed: number[] }) => boolean) => {
    const seen = { reported: [] as Judged[], trimmed: [] as number[] }
    const stop = new AbortController()
    const ended = judgeNeighbours(
      {
        nc,
        readRows: readRowsOf(nc, new RowsAtHand()),
        sensors: () => sensors,
        report: (judged) => void seen.reported.push(judged),
        onTrimmed: (sinceMs) => void seen.trimmed.push(sinceMs),
        nowMs: Date.now,
        monotonicMs: () => performance.now(),
        pause: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 50))),
        onFailure: (error) => {
          throw error
        },
      },
      stop.signal,
    )
    await eventually('it has judged, or said why not', () => until(seen))
    stop.abort()
    await ended
    return seen
  }

  const { reported, trimmed } = await run((seen) => seen.reported.length > 0)
  expect(trimmed).toEqual([])
  expect(reported).toEqual([
    {
      endMs: nowMs - 20 * minuteMs,
      readingsTo: 18,
      unlike: [{ sensor: ids[4], among: [3, 5, 2, 1, 0].map((index) => ids[index]) }],
    },
  ])
  const manager = await jetstreamManager(nc)
  await manager.streams.purge(readingsStream, { seq: 4 })
  const after = await run((seen) => seen.trimmed.length > 0)
  expect(after.trimmed[0]).toBeGreaterThan(nowMs - hourMs)
  expect(after.reported).toEqual([])
})
