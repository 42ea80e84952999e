import { expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { stepSpans } from '../../store/step-spans.ts'
import type { StatQuery, Store } from '../../store/store.ts'
import { withExpired, withoutExpired } from '../../store/with-expired.ts'

const firstMs = Date.UTC(2026, 2, 1)
const beforeMs = firstMs + 2 * dayMs
const halfMs = hourMs / 2
const query: StatQuery = {
  of: { sensors: ['NGR-LOS-IKJ-001' as SensorId] },
  edges: [0, 1, 2, 3].map((day) => firstMs + day * dayMs),
  steps: [0, 1, 2],
  fields: ['pm25'],
  from: 'hour',
  unwritten: new Set(),
  writtenFromMs: 0,
}
const spansOf = (more: Partial<StatQuery>) => {
  const { written, raw } = stepSpans(withoutExpired({ ...query, ...more }, beforeMs))
  return { written, raw }
}

test.each([
  ['is made again by other rules', { writtenFromMs: Infinity }],
  ['is made again, down to a later day', { writtenFromMs: beforeMs + dayMs }],
  ['is not known of at all', { unwritten: 'all' as const }],
])('expired hours are read as they are written, also while the rest %s', (_what, more) => {
  expect(spansOf(more)).toEqual({
    written: [{ fromMs: firstMs, toMs: beforeMs }],
    raw: [{ fromMs: beforeMs, toMs: beforeMs + dayMs }],
  })
})

test('hours that are not expired and wait are computed from readings, and no others', () => {
  const unwritten = new Set([firstMs + hourMs, beforeMs, beforeMs + 5 * hourMs])
  expect(spansOf({ unwritten })).toEqual({
    written: [
      { fromMs: firstMs, toMs: beforeMs },
      { fromMs: beforeMs + hourMs, toMs: beforeMs + 5 * hourMs },
      { fromMs: beforeMs + 6 * hourMs, toMs: beforeMs + dayMs },
    ],
    raw: [
      { fromMs: beforeMs, toMs: beforeMs + hourMs },
      { fromMs: beforeMs + 5 * hourMs, toMs: beforeMs + 6 * hourMs },
    ],
  })
})

test('a day of a zone that is half an hour off is made of no reading before the border', () => {
  const edges = query.edges.map((edge) => edge - halfMs)
  expect(spansOf({ edges })).toEqual({
    written: [{ fromMs: firstMs - hourMs, toMs: beforeMs + dayMs - hourMs }],
    raw: [{ fromMs: beforeMs + dayMs - hourMs, toMs: beforeMs + dayMs - halfMs }],
  })
})

test('what expires while the store computes is computed again, and is not left out', async () => {
  let expiredMs: number | undefined
  const asked: unknown[] = []
  const none = () => Promise.resolve([])
  /** The record moves on while the first answer is made. */
  const answer = <T>(question: unknown, rows: T): Promise<T> => {
    asked.push(question)
    expiredMs = beforeMs
    return Promise.resolve(rows)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is asked of it here
  const store = {
    rangeAll: none,
    computeBuckets: (_: string, fromMs: number) => answer(fromMs, []),
    computeSensors: (_: unknown, fromMs: number) => answer(fromMs, []),
    computeOverall: (_: string, fromMs: number) => answer(fromMs, undefined),
    statistics: ({ from }: StatQuery) => answer(from, []),
  } as Partial<Store> as Store
  const rows = { range: none, rangeAll: none, signature: () => Promise.resolve(undefined) }
  const whole = withExpired(store, { ...rows, beforeMs: () => expiredMs })
  const toMs = beforeMs + dayMs
  const askedBy = async (work: () => Promise<unknown>) => {
    expiredMs = undefined
    asked.length = 0
    await work()
    return [...asked]
  }
  const again = [firstMs, beforeMs]
  expect(await askedBy(() => whole.computeBuckets('', firstMs, toMs, 'hour'))).toEqual(again)
  expect(await askedBy(() => whole.computeSensors([], firstMs, toMs, 'hour'))).toEqual(again)
  // of what began before, all is read row by row
  expect(await askedBy(() => whole.computeOverall('', firstMs, toMs))).toEqual([firstMs])
  const readings = { ...query, from: 'readings' as const }
  expect(await askedBy(() => whole.statistics(readings))).toEqual(['readings', 'hour'])
})
