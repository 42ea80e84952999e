import { array, assert, integer, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { newestFromStore, oldestFromStore } from '../../api/live/newest-from-store.ts'
import {
  byNewest,
  byOldest,
  createNewestReadings,
  type PageQuery,
} from '../../api/live/newest-readings.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { Store } from '../../store/store.ts'
import { readingOf } from '../support/readings.ts'

const reading = (timeMs: number, sensor: number): Reading =>
  readingOf({
    sensor: `NGR-LOS-IKJ-00${sensor}` as SensorId,
    area: 'Ikeja',
    timeMs,
    aqi: null,
    flags: 0,
    seq: timeMs * 10 + sensor,
  })

const places = array(record({ timeMs: nat(60), sensor: nat(3) }), { maxLength: 120 })
const distinct = (places: readonly { timeMs: number; sensor: number }[]): Reading[] => [
  ...new Map(
    places.map(({ timeMs, sensor }) => [`${timeMs} ${sensor}`, reading(timeMs, sensor)]),
  ).values(),
]

/** What a page should hold, computed from all readings. */
const plainly = (all: readonly Reading[], query: PageQuery): Reading[] => {
  const inOrder = query.order === 'asc' ? byOldest : byNewest
  return all
    .filter(({ timeMs }) => timeMs >= query.fromMs && timeMs < query.toMs)
    .filter(({ sensor }) => query.sensor === undefined || sensor === query.sensor)
    .filter((row) => query.after === undefined || inOrder(row, query.after) > 0)
    .toSorted(inOrder)
    .slice(0, query.limit)
}

test.each(['desc', 'asc'] as const)(
  'whatever is added in whatever order, a page from memory is correct or undefined: %s',
  (order) => {
    let answered = 0
    assert(
      property(
        places,
        places,
        integer({ min: 1, max: 12 }),
        nat(60),
        nat(60),
        nat(4),
        (stored, logged, limit, from, width, number) => {
          const before = distinct(stored)
          const newest = createNewestReadings(12)
          newest.add(distinct(logged).slice(0, 10))
          const seeded = before.toSorted(byNewest).slice(0, 12)
          const floor = seeded.length < 12 ? { timeMs: -1, sensor: '' } : seeded.at(-1)!
          newest.seed(seeded, floor, newest.generation())
          newest.add(distinct(logged))
          newest.add(distinct(logged))
          const all = distinct([...stored, ...logged])
          const query: PageQuery = {
            sensor: number === 4 ? undefined : reading(0, number).sensor,
            fromMs: from,
            toMs: from + width + 1,
            limit,
            after: width % 2 === 0 ? undefined : reading(from + 3, 1),
            order,
          }
          const page = newest.page(query)
          if (page === undefined) return
          answered++
          expect(page).toEqual(plainly(all, query))
        },
      ),
    )
    // a memory that never answers would always be right
    expect(answered).toBeGreaterThan(20)
  },
)

test('nothing is answered before the seed, nor below its floor', () => {
  const newest = createNewestReadings(10)
  const everything = { fromMs: 0, toMs: 100, limit: 5 }
  newest.add([reading(50, 1)])
  expect(newest.page(everything)).toBeUndefined()
  newest.seed([reading(40, 1), reading(30, 1)], reading(30, 1), newest.generation())
  expect(newest.page({ ...everything, limit: 2 })).toEqual([reading(50, 1), reading(40, 1)])
  expect(newest.page(everything)).toBeUndefined()
  expect(newest.page({ ...everything, fromMs: 31 })).toEqual([reading(50, 1), reading(40, 1)])
})

test('a seed that was requested before everything was forgotten changes nothing', () => {
  const newest = createNewestReadings(10)
  const generation = newest.generation()
  newest.clear()
  newest.seed([reading(1, 1)], { timeMs: -1, sensor: '' }, generation)
  expect(newest.isSeeded()).toBe(false)
})

test('oldest first a page begins above the floor, or is not answered', () => {
  const newest = createNewestReadings(10)
  newest.seed([reading(40, 1), reading(30, 1)], reading(30, 1), newest.generation())
  const query = { fromMs: 31, toMs: 100, limit: 5, order: 'asc' } as const
  expect(newest.page(query)).toEqual([reading(40, 1)])
  expect(newest.page({ ...query, fromMs: 30 })).toBeUndefined()
  expect(newest.page({ ...query, fromMs: 0, after: reading(31, 1) })).toEqual([reading(40, 1)])
  expect(newest.page({ ...query, fromMs: 0, after: reading(30, 1) })).toBeUndefined()
})

test('windows from the beginning forwards give the same as one read of everything', async () => {
  const day = 86_400_000
  const all = [1, 2, 3].flatMap((sensor) =>
    [0, 10 * day, 10 * day + 1, 10 * day + 60_000, 11 * day, 40 * day, 2_000 * day].map((timeMs) =>
      reading(timeMs, sensor),
    ),
  )
  const spans: number[] = []
  const store: Pick<Store, 'rangeAll'> = {
    rangeAll: async (fromMs, toMs, limit, after, order = 'desc') => {
      spans.push(toMs - fromMs)
      return plainly(all, { fromMs, toMs, limit, after, order })
    },
  }
  const toMs = 2_001 * day
  for (const beginMs of [0, 10 * day, 12 * day, 3_000 * day])
    for (const limit of [1, 4, 100])
      for (const after of [undefined, reading(10 * day, 2), reading(11 * day, 3)]) {
        const query = { fromMs: 0, toMs, limit, after, order: 'asc' } as const
        expect(await oldestFromStore(store, query, beginMs)).toEqual(plainly(all, query))
      }
  spans.length = 0
  await oldestFromStore(store, { fromMs: 10 * day, toMs, limit: 3 }, 10 * day)
  expect(spans).toEqual([300_000])
})

test('windows from the end backwards give the same as one read of everything', async () => {
  const all = [1, 2, 3].flatMap((sensor) =>
    [0, 1, 60_000, 3_600_000, 86_400_000, 30 * 86_400_000, 2_000 * 86_400_000].map((timeMs) =>
      reading(timeMs, sensor),
    ),
  )
  const spans: number[] = []
  const store = {
    rangeAll: async (fromMs: number, toMs: number, limit: number, after?: PageQuery['after']) => {
      spans.push(toMs - fromMs)
      return plainly(all, { fromMs, toMs, limit, after })
    },
  }
  const toMs = 2_001 * 86_400_000
  for (const limit of [1, 4, 100]) {
    const query = { fromMs: 0, toMs, limit }
    expect(await newestFromStore(store, query)).toEqual(plainly(all, query))
  }
  const after = reading(86_400_000, 2)
  expect(await newestFromStore(store, { fromMs: 0, toMs, limit: 3, after })).toEqual(
    plainly(all, { fromMs: 0, toMs, limit: 3, after }),
  )
  expect(spans[0]).toBeLessThan(86_400_000)
})
