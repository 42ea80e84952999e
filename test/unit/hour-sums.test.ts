import { array, assert, integer, option, property, record, shuffledSubarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pollutant } from '../../core/air/index/air-index.ts'
import { nowcast } from '../../core/air/nowcast.ts'
import { applyLate, applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { hourMeans } from '../../core/state/hour-sums.ts'
import { compareToNewest, createState, slotOf } from '../../core/state/partition-state.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { valued } from '../support/readings.ts'
import { readingOf, type Unnumbered } from '../support/small-worker.ts'

const hourStart = Date.UTC(2026, 2, 2, 10)
const nowMs = hourStart + 30 * minuteMs

/** A sensor that measured this; the readings arrive in this order. */
function measured(readings: readonly Unnumbered[]) {
  const state = createState(0)
  const slot = slotOf(state, readingOf(0).sensor)
  for (const reading of readings) {
    const place = compareToNewest(state, slot, reading)
    if (place === 'newer') applyNewer(state, slot, reading, 1, createOutcome())
    if (place === 'older') applyLate(state, slot, reading)
  }
  return (pollutant: Pollutant, hours: number, expectedPerHour = 12, atMs = nowMs) =>
    hourMeans(state, slot, pollutant, atMs, hours, expectedPerHour)
}

/** `count` readings of the hour that began `age` hours before the running one. */
const inHour = (age: number, count: number, pm25: number | null): Unnumbered[] =>
  Array.from({ length: count }, (_, i) =>
    readingOf(hourStart - age * hourMs + i * 2 * minuteMs, { pm25, pm10: null }),
  )

describe('the mean of a clock hour', () => {
  test('is in µg/m³ and follows the running hour', () => {
    const readings = [
      ...inHour(1, 6, 1_000),
      ...inHour(1, 12, 2_000).slice(6),
      ...inHour(0, 12, 300),
    ]
    expect(measured(readings)('pm25', 3)).toEqual([3, 15, null])
  })

  test('needs three quarters of the readings expected', () => {
    expect(measured(inHour(1, 9, 500))('pm25', 2)[1]).toBe(5)
    expect(measured(inHour(1, 8, 500))('pm25', 2)[1]).toBeNull()
  })

  test('of the running hour needs three quarters of those expected so far, and at least one', () => {
    expect(measured(inHour(0, 5, 500))('pm25', 1)).toEqual([5])
    expect(measured(inHour(0, 4, 500))('pm25', 1)).toEqual([null])
    expect(measured(inHour(0, 1, 500))('pm25', 1, 12, hourStart + 1)).toEqual([5])
    expect(measured([])('pm25', 1, 12, hourStart)).toEqual([null])
  })

  test('of a sensor slower than an hour needs one reading', () => {
    expect(measured(inHour(2, 1, 500))('pm25', 3, 0.5)).toEqual([null, null, 5])
  })

  test('counts only the readings that have the pollutant', () => {
    const mixed = inHour(1, 12, 500).map((reading, i) =>
      i < 4 ? valued({ ...reading, pm25: null }) : reading,
    )
    expect(measured(mixed)('pm25', 2)[1]).toBeNull()
    expect(measured(inHour(1, 12, 500))('pm10', 2)[1]).toBeNull()
  })

  test('is 0 where the air was clean, and none where nothing was measured', () => {
    expect(measured(inHour(1, 12, 0))('pm25', 2)).toEqual([null, 0])
  })

  test('is bounded when a sensor sends without end', () => {
    const flood = Array.from({ length: 30_000 }, (_, i) =>
      readingOf(hourStart + i, { pm25: 100_000, pm10: 100_000 }),
    )
    expect(measured(flood)('pm25', 1)).toEqual([1_000])
    expect(measured(flood)('pm10', 1)).toEqual([1_000])
  })
})

test('24 hours are stored, and a clock that runs ahead loses none of them', () => {
  const readings = Array.from({ length: 24 }, (_, k) => inHour(23 - k, 12, 100 * (24 - k))).flat()
  const expected = Array.from({ length: 24 }, (_, age) => age + 1)
  const atMs = hourStart + 59 * minuteMs
  expect(measured(readings)('pm25', 24, 12, atMs)).toEqual(expected)
  const ahead = readingOf(hourStart + hourMs, { pm25: 9_900 })
  expect(measured([...readings, ahead])('pm25', 24, 12, atMs)).toEqual(expected)
})

test('a slot never assigned has no means', () => {
  expect(hourMeans(createState(0), -1, 'pm25', nowMs, 2, 12)).toEqual([null, null])
})

test('the means feed the NowCast', () => {
  const readings = [...inHour(2, 12, 2_000), ...inHour(1, 12, 1_000), ...inHour(0, 12, 1_000)]
  // w = max(½, 10/20); (10 + 10·½ + 20·¼) / (1 + ½ + ¼)
  expect(nowcast(measured(readings)('pm25', 12))).toBeCloseTo(20 / 1.75, 10)
})

test('a mean is that of the readings of its hour, whatever the order of arrival', () => {
  const one = record({
    minutesAgo: integer({ min: -5, max: 40 * 60 }),
    pm25: option(integer({ min: 0, max: 100_000 })),
  })
  const many = array(one, { maxLength: 200 }).chain((all) =>
    shuffledSubarray(all, { minLength: all.length }),
  )
  assert(
    property(many, (sent) => {
      const first = new Map(sent.toReversed().map((each) => [each.minutesAgo, each.pm25]))
      const readings = sent.map(({ minutesAgo, pm25 }) =>
        readingOf(nowMs - minutesAgo * minuteMs, { pm25, pm10: null }),
      )
      const accepted = unrepeated(readings)
      const naive = Array.from({ length: 24 }, (_, age) => {
        const values = [...first]
          .filter(([minutes]) => hourOf(nowMs - minutes * minuteMs) === hourOf(nowMs) - age)
          .flatMap(([, pm25]) => pm25 ?? [])
        return values.length === 0 ? null : mean(values)
      })
      const means = measured(accepted)('pm25', 24, 0.01)
      expect(means.map((value) => value === null)).toEqual(naive.map((value) => value === null))
      means.forEach((value, age) => expect(value ?? 0).toBeCloseTo(naive[age] ?? 0, 6))
    }),
  )
})

const hourOf = (timeMs: number): number => Math.floor(timeMs / hourMs)
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length / 100

/** The first of each time: a time is accepted once. */
function unrepeated(readings: readonly Unnumbered[]): Unnumbered[] {
  const times = new Set<number>()
  return readings.filter(({ timeMs }) => !times.has(timeMs) && times.add(timeMs))
}
