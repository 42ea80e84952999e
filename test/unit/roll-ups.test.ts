import type { KV } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { runRollUps, spansOf } from '../../pipeline/projections/roll-ups.ts'
import type { ReadEntries, StoreEntry } from '../../pipeline/projections/store-writer.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import type { AreaStats, BucketSize } from '../../store/store.ts'
import { plainStats } from '../contract/store-statistics.ts'
import { eventually } from '../support/eventually.ts'
import { readingOf } from '../support/readings.ts'

const startMs = Date.UTC(2026, 0, 15)
const oneTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

let made = 0
const row = (timeMs: number, pm25: number, area = 'Ikeja'): Reading =>
  readingOf({
    sensor: 'NGR-LOS-IKJ-001' as SensorId,
    area,
    timeMs,
    pm25,
    aqi: null,
    flags: 0,
    seq: ++made,
  })

/** Log, store and KV in memory, with the job between them. */
function openJob() {
  const log: StoreEntry[] = []
  const kept = new Map<string, string>()
  const hours = new Map<string, AreaStats>()
  const days = new Map<string, AreaStats>()
  const state = { nowMs: startMs, storedTo: 0, failures: 0, failWrites: 0, computed: 0 }
  const storedRows = (): Reading[] =>
    log.filter(({ seq }) => seq <= state.storedTo).flatMap(({ rows }) => rows)

  const bucketsOf = (area: string, fromMs: number, toMs: number, size: BucketSize): AreaStats[] => {
    const inside = storedRows().filter(
      (one) =>
        (area === wholeNetwork || one.area === area) && one.timeMs >= fromMs && one.timeMs < toMs,
    )
    const stepMs = size === 'hour' ? hourMs : dayMs
    const groups = Map.groupBy(inside, ({ timeMs }) => floorTo(timeMs, stepMs))
    return [...groups].map(([start, rows]) => plainStats(area, start, rows))
  }
  const writer = (into: Map<string, AreaStats>) => async (rows: readonly AreaStats[]) => {
    await oneTurn()
    if (state.failWrites-- > 0) throw new Error('the store is away')
    for (const stats of rows) into.set(`${stats.area} ${stats.startMs}`, stats)
  }
  const readEntries: ReadEntries = async function* (fromSeq, stop) {
    for (let seq = fromSeq; !stop.aborted; ) {
      const entry = log[seq - 1]
      if (entry === undefined) await oneTurn()
      else {
        yield entry
        seq++
      }
    }
  }
  const kv = {
    get: async (key: string) => {
      const text = kept.get(key)
      return text === undefined ? null : { json: (): unknown => JSON.parse(text) }
    },
    put: async (key: string, text: string) => void kept.set(key, text),
  } as unknown as KV

  const start = (): (() => Promise<void>) => {
    const stop = new AbortController()
    const done = runRollUps({
      store: {
        computeBuckets: async (...args) => {
          state.computed++
          return bucketsOf(...args)
        },
        writeAreaHours: writer(hours),
        writeAreaDays: writer(days),
      },
      kv,
      readEntries,
      stored: async (_, seq, until) => {
        while (state.storedTo < seq && !until.aborted) await oneTurn()
      },
      nowMs: () => state.nowMs,
      pause: oneTurn,
      onFailure: () => state.failures++,
      stop: stop.signal,
    })
    return async () => {
      stop.abort()
      await done
    }
  }

  const areas = (): string[] => [
    ...new Set([wholeNetwork, ...storedRows().map(({ area }) => area)]),
  ]
  /** What should be there of all that is over. */
  const expected = (size: BucketSize): Map<string, AreaStats> => {
    const stepMs = size === 'hour' ? hourMs : dayMs
    const all = areas().flatMap((area) => bucketsOf(area, 0, Number.MAX_SAFE_INTEGER, size))
    const over = all.filter((stats) => stats.startMs + stepMs <= state.nowMs)
    return new Map(over.map((stats) => [`${stats.area} ${stats.startMs}`, stats]))
  }
  return {
    state,
    hours,
    days,
    kept,
    expected,
    start,
    commit: (...rows: readonly Reading[]) => {
      log.push({ partition: 0, seq: log.length + 1, rows })
      state.storedTo = log.length
    },
    commitUnstored: (...rows: readonly Reading[]) => {
      log.push({ partition: 0, seq: log.length + 1, rows })
    },
    position: (): number => {
      const text = kept.get(systemKeys.rollup)
      return text === undefined ? 0 : (JSON.parse(text) as { position: number }).position
    },
    end: () => log.length,
  }
}

type Job = ReturnType<typeof openJob>
const inOrder = (stats: ReadonlyMap<string, AreaStats>): string =>
  JSON.stringify([...stats].toSorted(([a], [b]) => (a < b ? -1 : 1)))
const isRight = ({ hours, days, expected }: Job): boolean =>
  inOrder(expected('hour')) === inOrder(hours) && inOrder(expected('day')) === inOrder(days)
const settled = (job: Job): Promise<unknown> =>
  eventually(
    'the statistics are those of the rows',
    () => job.position() === job.end() && isRight(job),
  )

test('an hour and a day are computed when they are over, for their area and the network', async () => {
  const job = openJob()
  const stop = job.start()
  job.commit(row(startMs, 1_000), row(startMs + minuteMs, 3_000, 'Yaba'))
  await settled(job)
  expect(job.hours.size).toBe(0)
  job.state.nowMs = startMs + hourMs
  await eventually('three rows', () => job.hours.size === 3)
  expect(job.hours.get(`${wholeNetwork} ${startMs}`)).toMatchObject({ readings: 2 })
  expect(job.days.size).toBe(0)
  job.state.nowMs = startMs + dayMs
  await settled(job)
  expect(job.days.get(`Yaba ${startMs}`)?.fields.pm25.mean).toBe(30)
  await stop()
})

test('a late reading makes its hour and its day right again, however old', async () => {
  const job = openJob()
  const stop = job.start()
  job.state.nowMs = startMs + 400 * dayMs
  job.commit(row(startMs, 1_000))
  await settled(job)
  job.commit(row(startMs + minuteMs, 9_000), row(startMs - 300 * dayMs, 5))
  await settled(job)
  expect(job.hours.get(`Ikeja ${startMs}`)?.fields.pm25).toMatchObject({ n: 2, max: 90 })
  await stop()
})

test('a reading counts only when the store holds it', async () => {
  const job = openJob()
  const stop = job.start()
  job.state.nowMs = startMs + dayMs
  job.commitUnstored(row(startMs, 1_000))
  for (let turn = 0; turn < 20; turn++) await oneTurn()
  expect([job.state.computed, job.position()]).toEqual([0, 0])
  job.state.storedTo = 1
  await settled(job)
  await stop()
})

test('a write that fails is made again, and no hour is forgotten', async () => {
  const job = openJob()
  job.state.failWrites = 7
  const stop = job.start()
  job.state.nowMs = startMs + 2 * dayMs
  for (let i = 0; i < 30; i++) job.commit(row(startMs + i * hourMs, i * 100, i % 2 ? 'A' : 'B'))
  await settled(job)
  expect(job.state.failures).toBe(7)
  await stop()
})

test('stopped and started, it remembers the hours that were not over', async () => {
  const job = openJob()
  const stop = job.start()
  job.commit(row(startMs, 1_000))
  await eventually('the position is kept', () => job.position() === 1)
  await stop()
  job.state.nowMs = startMs + 2 * dayMs
  job.commit(row(startMs + minuteMs, 2_000))
  const again = job.start()
  await settled(job)
  expect(job.hours.get(`Ikeja ${startMs}`)?.readings).toBe(2)
  await again()
})

test('a record that cannot be understood is begun anew, from the start of the log', async () => {
  const job = openJob()
  job.state.nowMs = startMs + dayMs
  job.commit(row(startMs, 1_000))
  job.kept.set(systemKeys.rollup, '{"position":"far"}')
  const stop = job.start()
  await settled(job)
  expect(job.hours.size).toBe(2)
  await stop()
})

test.each<[string, number[], [number, number][]]>([
  ['none', [], []],
  ['one hour', [5], [[5, 6]]],
  ['neighbours, in any order', [3, 1, 2], [[1, 4]]],
  ['a gap of six hours is bridged', [0, 7], [[0, 8]]],
  [
    'a gap of seven is not',
    [0, 8],
    [
      [0, 1],
      [8, 9],
    ],
  ],
])('dirty hours as spans: %s', (_, hours, spans) => {
  const found = spansOf(
    hours.map((hour) => hour * hourMs),
    hourMs,
  )
  expect(found.map(({ fromMs, toMs }) => [fromMs / hourMs, toMs / hourMs])).toEqual(spans)
})

test('no span is longer than a month, so no query is', () => {
  const year = Array.from({ length: 24 * 365 }, (_, hour) => hour * hourMs)
  const spans = spansOf(year, hourMs)
  expect(Math.max(...spans.map(({ fromMs, toMs }) => toMs - fromMs))).toBe(31 * dayMs)
  expect(spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)).toBe(365 * dayMs)
})
