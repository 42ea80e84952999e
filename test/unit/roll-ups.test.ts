import type { KV } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { wholeNetwork } from '../../core/air/area.ts'
import { maskOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, floorTo, hourMs, minuteMs } from '../../core/time.ts'
import { runRollUps, spansOf } from '../../pipeline/projections/roll-ups.ts'
import type { ReadRows } from '../../pipeline/read-rows.ts'
import type { LogRows } from '../../pipeline/rows-at-hand.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { fewestCounted } from '../../store/hour-values.ts'
import type { AreaStats, BucketSize, SensorStats } from '../../store/store.ts'
import { plainStats } from '../contract/store-statistics.ts'
import { eventually } from '../support/eventually.ts'
import { logRowsOf, readingsIn } from '../support/log-rows.ts'
import { readingOf } from '../support/readings.ts'

const startMs = Date.UTC(2026, 0, 15)
const oneTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

let made = 0
const row = (timeMs: number, pm25: number, area = 'Ikeja', sensor = 1): Reading =>
  readingOf({
    sensor: `NGR-LOS-IKJ-00${sensor}` as SensorId,
    area,
    timeMs,
    pm25,
    aqi: null,
    flags: 0,
    seq: ++made,
  })

/** Log, store and KV in memory, with the job between them. */
function openJob() {
  const log: LogRows[] = []
  const kept = new Map<string, string>()
  const hours = new Map<string, AreaStats>()
  const days = new Map<string, AreaStats>()
  const valuesKept = new Set<string>()
  const sensorHours = new Map<string, SensorStats>()
  const sensorDays = new Map<string, SensorStats>()
  const state = {
    nowMs: startMs,
    storedTo: 0,
    failures: 0,
    failWrites: 0,
    computed: 0,
    sensorsComputed: 0,
    keptFromMs: undefined as number | undefined,
  }
  const storedRows = (): Reading[] =>
    log.filter(({ seq }) => seq <= state.storedTo).flatMap(({ rows }) => readingsIn(rows))

  const bucketsOf = (area: string, fromMs: number, toMs: number, size: BucketSize): AreaStats[] => {
    const inside = storedRows().filter(
      (one) =>
        (area === wholeNetwork || one.area === area) && one.timeMs >= fromMs && one.timeMs < toMs,
    )
    const stepMs = size === 'hour' ? hourMs : dayMs
    const groups = Map.groupBy(inside, ({ timeMs }) => floorTo(timeMs, stepMs))
    return [...groups].map(([start, rows]) => plainStats(area, start, rows))
  }
  const sensorsOf = (
    sensors: readonly SensorId[],
    fromMs: number,
    toMs: number,
    size: BucketSize,
  ): SensorStats[] =>
    sensors.flatMap((sensor) => {
      const own = storedRows().filter((one) => one.sensor === sensor)
      const inside = own.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
      const groups = Map.groupBy(inside, ({ timeMs }) =>
        floorTo(timeMs, size === 'hour' ? hourMs : dayMs),
      )
      return [...groups].map(([start, rows]) => {
        const { area: _, ...stats } = plainStats('', start, rows)
        return { sensor, ...stats }
      })
    })
  const writer =
    <Stats extends { startMs: number }>(
      into: Map<string, Stats>,
      nameOf: (stats: Stats) => string,
    ) =>
    async (rows: readonly Stats[]) => {
      await oneTurn()
      if (state.failWrites-- > 0) throw new Error('the store is away')
      for (const stats of rows) into.set(`${nameOf(stats)} ${stats.startMs}`, stats)
    }
  const readRows: ReadRows = async function* (fromSeq, stop) {
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
      if (text === undefined) return null
      return { operation: 'PUT', bucket: buckets.system, key, revision: 1, string: () => text }
    },
    put: async (key: string, text: string) => void kept.set(key, text),
  } as unknown as KV

  const start = (): (() => Promise<void>) => {
    const stop = new AbortController()
    const done = runRollUps({
      store: {
        computeBuckets: async (area, fromMs, toMs, size) => {
          state.computed++
          return bucketsOf(area, fromMs, toMs, size)
        },
        keepHourValues: async (area, startMs) => {
          // after the hour's statistics: they say what the values are of
          if (hours.has(`${area} ${startMs}`)) valuesKept.add(`${area} ${startMs}`)
        },
        writeAreaHours: writer(hours, ({ area }) => area),
        writeAreaDays: writer(days, ({ area }) => area),
        names: async () => ({
          sensors: [...new Set(storedRows().map(({ sensor }) => sensor))],
          areas: [...new Set(storedRows().map(({ area }) => area))],
        }),
        rangeAll: async (fromMs, toMs, limit) =>
          storedRows()
            .filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
            .toSorted((a, b) => b.timeMs - a.timeMs)
            .slice(0, limit),
        keptFromMs: async () => state.keptFromMs,
        computeSensors: async (sensors, ...args) => {
          state.sensorsComputed += sensors.length
          return sensorsOf(sensors, ...args)
        },
        writeSensorHours: writer(sensorHours, ({ sensor }) => sensor),
        writeSensorDays: writer(sensorDays, ({ sensor }) => sensor),
      },
      kv,
      readRows,
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
  const expectedSensors = (size: BucketSize): Map<string, SensorStats> => {
    const stepMs = size === 'hour' ? hourMs : dayMs
    const sensors = [...new Set(storedRows().map(({ sensor }) => sensor))]
    const all = sensorsOf(sensors, 0, Number.MAX_SAFE_INTEGER, size)
    const over = all.filter((stats) => stats.startMs + stepMs <= state.nowMs)
    return new Map(over.map((stats) => [`${stats.sensor} ${stats.startMs}`, stats]))
  }
  return {
    state,
    hours,
    days,
    valuesKept,
    sensorHours,
    sensorDays,
    expectedSensors,
    kept,
    expected,
    start,
    commit: (...rows: readonly Reading[]) => {
      log.push(logRowsOf(0, log.length + 1, rows))
      state.storedTo = log.length
    },
    commitUnstored: (...rows: readonly Reading[]) => {
      log.push(logRowsOf(0, log.length + 1, rows))
    },
    position: (): number => {
      const text = kept.get(systemKeys.rollup)
      return text === undefined ? 0 : (JSON.parse(text) as { position: number }).position
    },
    sensorsFromMs: (): number | undefined =>
      (JSON.parse(kept.get(systemKeys.rollup) ?? '{}') as { sensorsFromMs?: number }).sensorsFromMs,
    end: () => log.length,
  }
}

type Job = ReturnType<typeof openJob>
const inOrder = (stats: ReadonlyMap<string, unknown>): string =>
  JSON.stringify([...stats].toSorted(([a], [b]) => (a < b ? -1 : 1)))
const isRight = ({ hours, days, expected, ...job }: Job): boolean =>
  inOrder(expected('hour')) === inOrder(hours) &&
  inOrder(expected('day')) === inOrder(days) &&
  inOrder(job.expectedSensors('hour')) === inOrder(job.sensorHours) &&
  inOrder(job.expectedSensors('day')) === inOrder(job.sensorDays)
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

test('the values of an hour are kept after its statistics, if it has many readings', async () => {
  const job = openJob()
  const stop = job.start()
  const many = Array.from({ length: fewestCounted }, (_, at) => row(startMs + at, at))
  job.commit(...many, row(startMs, 1, 'Yaba'))
  job.state.nowMs = startMs + hourMs
  await eventually('the hours are written', () => job.hours.size === 3 && job.valuesKept.size === 2)
  expect([...job.valuesKept].toSorted()).toEqual(
    [`Ikeja ${startMs}`, `${wholeNetwork} ${startMs}`].toSorted(),
  )
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

test('a late reading makes the hour of its sensor again, and of no other', async () => {
  const job = openJob()
  job.state.nowMs = startMs + 400 * dayMs
  const stop = job.start()
  job.commit(...[1, 2, 3, 4].map((sensor) => row(startMs, sensor, 'Ikeja', sensor)))
  await settled(job)
  const before = job.state.sensorsComputed
  job.commit(row(startMs + minuteMs, 9_000, 'Ikeja', 3))
  await settled(job)
  expect(job.sensorHours.get(`NGR-LOS-IKJ-003 ${startMs}`)?.fields.pm25.max).toBe(90)
  // its hour and its day
  expect(job.state.sensorsComputed - before).toBe(2)
  await stop()
})

test('what an earlier version stored gets its hours and days, day by day, the newest first', async () => {
  const job = openJob()
  job.state.nowMs = startMs + 2 * hourMs
  const old = [0, -1, -5, -400].map((days) => row(startMs + days * dayMs, 100 - days))
  job.commit(...old)
  // read by the earlier version, which knew no sensors
  job.kept.set(systemKeys.rollup, JSON.stringify({ position: 1, dirty: [], dirtyDays: [] }))
  const stop = job.start()
  await eventually('all is written', () => job.sensorsFromMs() === 0)
  const starts = [...job.sensorDays.values()].map((stats) => stats.startMs)
  expect(starts).toEqual([-1, -5, -400].map((days) => startMs + days * dayMs))
  expect(job.sensorHours.size).toBe(4)
  // today is not over: its day is made when it is
  job.state.nowMs = startMs + dayMs
  job.commit(row(startMs + hourMs, 7))
  await eventually('today', () => job.sensorDays.get(`NGR-LOS-IKJ-001 ${startMs}`)?.readings === 2)
  await stop()
})

test('a day that the engine has begun to drop keeps what was written', async () => {
  const job = openJob()
  job.state.nowMs = startMs
  job.state.keptFromMs = startMs - 1.5 * dayMs
  job.commit(...[-1, -2, -3].map((days) => row(startMs + days * dayMs, 5)))
  job.kept.set(systemKeys.rollup, JSON.stringify({ position: 1, dirty: [], dirtyDays: [] }))
  const stop = job.start()
  await eventually('all that can be is written', () => job.sensorsFromMs() === 0)
  expect([...job.sensorDays.values()].map((stats) => stats.startMs)).toEqual([startMs - dayMs])
  await stop()
})

test('what was made by other rules is made again, of areas and sensors', async () => {
  const job = openJob()
  job.state.nowMs = startMs + 2 * dayMs
  job.commit(row(startMs + 5, 10), { ...row(startMs + 9, 900), flags: maskOf('pm_stuck') })
  const record = { position: 1, dirty: [], dirtyDays: [], sensorsFromMs: 0 }
  job.kept.set(systemKeys.rollup, JSON.stringify(record))
  const stop = job.start()
  await settled(job)
  expect(job.hours.get(`Ikeja ${startMs}`)).toMatchObject({ readings: 1, failed: 1 })
  expect(job.sensorDays.get(`NGR-LOS-IKJ-001 ${startMs}`)).toMatchObject({ readings: 1, failed: 1 })
  await stop()
  const { computed } = job.state
  const again = job.start()
  for (let turn = 0; turn < 100; turn++) await oneTurn()
  expect(job.state.computed).toBe(computed)
  await again()
})

test('stopped in the past days, it goes on with the day it was at', async () => {
  const job = openJob()
  job.state.nowMs = startMs + 2 * dayMs
  job.commit(...Array.from({ length: 9 }, (_, day) => row(startMs - day * dayMs, day)))
  job.kept.set(systemKeys.rollup, JSON.stringify({ position: 1, dirty: [], dirtyDays: [] }))
  job.state.failWrites = 4
  let stop = job.start()
  await eventually('it failed and began again', () => job.state.failures === 4)
  await stop()
  stop = job.start()
  await settled({ ...job, expected: (size) => new Map(size === 'hour' ? job.hours : job.days) })
  expect(job.sensorsFromMs()).toBe(0)
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
