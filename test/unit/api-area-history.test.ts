import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { type AreaStatistics, createAreaHistory } from '../../api/areas/area-history.ts'
import { composeStats } from '../../api/areas/compose-stats.ts'
import { coalesce, cutPeriod, type Period } from '../../api/areas/cut-period.ts'
import { wholeNetwork } from '../../core/air/area.ts'
import { mapQuantities } from '../../core/air/quantities.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { createRollupProgress, parseRollupRecord } from '../../operate/rollup-progress.ts'
import { createCache } from '../../runtime/cache.ts'
import { noValues } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize, StoreReads } from '../../store/store.ts'

const stats = (startMs: number, readings: number, mean: number): AreaStats => {
  const none = noValues
  const quantiles = { q02: mean - 1, q25: mean, p50: mean, q75: mean, p98: mean }
  const pm25 = { n: readings, mean, sd: 1, min: mean - 1, max: mean + 1, ...quantiles }
  return {
    area: 'Ikeja',
    startMs,
    readings,
    failed: 0,
    fields: { ...mapQuantities(() => none), pm25, aqi: none },
  }
}

test('a period is cut without a gap and without an overlap', () => {
  assert(
    property(integer({ min: 0, max: 500 }), integer({ min: 1, max: 500 }), (fromMs, length) => {
      const period = { fromMs, toMs: fromMs + length }
      const { head, whole, tail } = cutPeriod(period, 60)
      const parts = [head, whole, tail].filter((part) => part !== undefined)
      expect(parts[0]?.fromMs).toBe(period.fromMs)
      expect(parts.at(-1)?.toMs).toBe(period.toMs)
      parts.slice(1).forEach((part, i) => expect(part.fromMs).toBe(parts[i]?.toMs))
      expect([(whole?.fromMs ?? 0) % 60, (whole?.toMs ?? 0) % 60]).toEqual([0, 0])
    }),
  )
  expect(coalesce([60, 0, 180, 120, 300], 60)).toEqual([
    { fromMs: 0, toMs: 240 },
    { fromMs: 300, toMs: 360 },
  ])
})

test('means are weighted by their readings, and percentiles are those of the means', () => {
  const whole = composeStats([stats(0, 1, 10), stats(hourMs, 3, 20), stats(2 * hourMs, 0, 0)])
  expect(whole).toMatchObject({ startMs: 0, readings: 4 })
  expect(whole?.fields.pm25).toMatchObject({ n: 4, mean: 17.5, min: 9, max: 21, p50: 15, p98: 20 })
  // of 10, and of three values with mean 20 and deviation 1
  expect(whole?.fields.pm25.sd).toBeCloseTo(Math.sqrt((56.25 + 3 * 6.25 + 2) / 3), 9)
  expect(whole?.fields.aqi.mean).toBeNull()
  expect(composeStats([])).toBeUndefined()
})

type Calls = { hours: number; days: number; computed: [number, number][]; overall: number }

function historyOver(progress: ReturnType<typeof createRollupProgress>, nowMs: number) {
  const calls: Calls = { hours: 0, days: 0, computed: [], overall: 0 }
  const every = (fromMs: number, toMs: number, stepMs: number, mean: number): AreaStats[] =>
    Array.from({ length: (toMs - fromMs) / stepMs }, (_, i) => stats(fromMs + i * stepMs, 1, mean))
  const reads: Pick<
    StoreReads,
    'areaHours' | 'areaDays' | 'computeBuckets' | 'computeOverall' | 'statistics'
  > = {
    areaHours: async (_area, fromMs, toMs) => {
      calls.hours++
      return every(fromMs, toMs, hourMs, 1)
    },
    areaDays: async (_area, fromMs, toMs) => {
      calls.days++
      return every(fromMs, toMs, dayMs, 1)
    },
    computeBuckets: async (_area, fromMs, toMs, size) => {
      calls.computed.push([fromMs, toMs])
      return every(fromMs, toMs, size === 'hour' ? hourMs : dayMs, 2)
    },
    statistics: async ({ edges: [fromMs = 0] }) => {
      const { readings, failed, fields } = stats(fromMs, 1, 1)
      return [{ step: 0, readings, leftOut: failed, fields }]
    },
    computeOverall: async (_area, fromMs) => {
      calls.overall++
      return stats(fromMs, 1, 3)
    },
  }
  const history = createAreaHistory({
    progress,
    nowMs: () => nowMs,
  })
  // the history uses nothing else of the store
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const store = { within: () => reads as StoreReads }
  const keep = createCache({ forMs: 10, most: 100, nowMs: () => nowMs })
  const request = { store, keep, gone: new AbortController().signal }
  const of =
    (isVisitor: boolean): Ask =>
    (area, period, step) =>
      history({ ...request, isVisitor }, area, period, step)
  return { history: of(false), ofVisitor: of(true), calls }
}

type Ask = (area: string, period: Period, step?: BucketSize) => Promise<AreaStatistics>

const seriesOf = async (
  history: Ask,
  area: string,
  period: Period,
  size: BucketSize,
): Promise<readonly AreaStats[]> => (await history(area, period, size)).series ?? []

const meansOf = (series: readonly AreaStats[]): (number | null)[] =>
  series.map(({ fields }) => fields.pm25.mean)

test('closed hours are read, dirty and current ones computed, and so are partial ends', async () => {
  const progress = createRollupProgress()
  progress.record({ position: 10, dirty: [['Ikeja', 3 * hourMs]], dirtyDays: [] })
  progress.note(11, [{ area: 'Ikeja', timeMs: 4 * hourMs + 5 }])
  progress.note(9, [{ area: 'Ikeja', timeMs: 2 * hourMs }])
  progress.note(12, [{ area: 'Yaba', timeMs: 2 * hourMs }])
  const { history, calls } = historyOver(progress, 8.5 * hourMs)
  const period = { fromMs: 1.5 * hourMs, toMs: 8.5 * hourMs }
  const series = await seriesOf(history, 'Ikeja', period, 'hour')
  expect(meansOf(series)).toEqual([3, 1, 2, 2, 1, 1, 1, 3])
  expect(calls.computed).toEqual([[3 * hourMs, 5 * hourMs]])
  await seriesOf(history, 'Ikeja', period, 'hour')
  expect(calls).toMatchObject({ hours: 2, overall: 3, computed: { length: 1 } })
  // for the network the hours of every area count
  const network = await seriesOf(history, wholeNetwork, { ...period, fromMs: 2 * hourMs }, 'hour')
  expect(meansOf(network)).toEqual([2, 2, 2, 1, 1, 1, 3])
})

test('a day is read when it is over and written, else computed', async () => {
  const progress = createRollupProgress()
  progress.record({ position: 1, dirty: [], dirtyDays: [['Ikeja', 0]] })
  const { history } = historyOver(progress, 3.5 * dayMs)
  const series = await seriesOf(history, 'Ikeja', { fromMs: 0, toMs: 4 * dayMs }, 'day')
  expect(meansOf(series)).toEqual([2, 1, 1, 2])
})

test('while no statistics job has run everything is computed', async () => {
  const { history, calls } = historyOver(createRollupProgress(), 9 * hourMs)
  expect(
    meansOf(await seriesOf(history, 'Ikeja', { fromMs: 0, toMs: 3 * hourMs }, 'hour')),
  ).toEqual([2, 2, 2])
  expect(calls.hours).toBe(0)
})

test('up to a day is computed from its readings, more from the hours', async () => {
  const progress = createRollupProgress()
  progress.record({ position: 1, dirty: [], dirtyDays: [] })
  const { history, ofVisitor, calls } = historyOver(progress, 10 * dayMs)
  const of = async (ask: Ask, toMs: number) => {
    const { stats, basis } = await ask('Ikeja', { fromMs: 0, toMs })
    return [stats?.fields.pm25.mean, basis]
  }
  expect(await of(history, dayMs)).toEqual([3, 'readings'])
  expect(await of(history, dayMs + hourMs)).toEqual([1, 'hourly_means'])
  expect(calls.overall).toBe(1)
  // a visitor gets the hours from an hour on, and reads no day of readings
  expect(await of(ofVisitor, hourMs)).toEqual([3, 'readings'])
  expect(await of(ofVisitor, dayMs)).toEqual([1, 'hourly_means'])
  expect(calls.overall).toBe(2)
})

test('an incomplete record of the job is ignored', () => {
  expect(parseRollupRecord({ position: 1, dirty: [], dirtyDays: [['Ikeja', 0]] })).toBeDefined()
  for (const value of [
    null,
    16,
    {},
    { position: 1, dirty: [] },
    { position: 1, dirty: [1], dirtyDays: [] },
  ]) {
    expect(parseRollupRecord(value)).toBeUndefined()
  }
})

test('an answer is cached for its time, computed once for all waiting requests, and a failure is not cached', async () => {
  let nowMs = 0
  let made = 0
  const keep = createCache({ forMs: 10, most: 2, nowMs: () => nowMs })
  const make = async (): Promise<number> => ++made
  expect(await Promise.all([keep({ what: 'a' }, make), keep({ what: 'a' }, make)])).toEqual([1, 1])
  nowMs = 9
  expect(await keep({ what: 'a' }, make)).toBe(1)
  nowMs = 10
  expect(await keep({ what: 'a' }, make)).toBe(2)
  const failing = keep({ what: 'b' }, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect(await keep({ what: 'b' }, make)).toBe(3)
  await keep({ what: 'c' }, make)
  expect(await keep({ what: 'a' }, make)).toBe(5)
})

test('work is aborted when all waiting clients have gone, and is then started again', async () => {
  const keep = createCache({ forMs: 10, most: 2, nowMs: () => 0 })
  const signals: AbortSignal[] = []
  const make = (gone: AbortSignal): Promise<string> => {
    signals.push(gone)
    return new Promise((resolve, reject) => {
      gone.addEventListener('abort', () => reject(new Error('given up')))
      if (signals.length === 2) resolve('made')
    })
  }
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = [
    keep({ what: 'a' }, make, first.signal),
    keep({ what: 'a' }, make, second.signal),
  ]
  const settled = Promise.allSettled(waiting)
  first.abort()
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  expect(keep.ready({ what: 'a' })).toBeUndefined()
  second.abort()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await keep({ what: 'a' }, make, new AbortController().signal)).toBe('made')
  expect(keep.ready({ what: 'a' })).toBe('made')
})
