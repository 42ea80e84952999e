import { describe, expect, test } from 'vitest'
import type { Found } from '../../api/statistics/ask-store.ts'
import type { ExpectedCount } from '../../api/statistics/expected-count.ts'
import { coverageJson, stepsJson } from '../../api/statistics/statistics-json.ts'
import { storedIndex } from '../../core/air/index/indices.ts'
import { timeZoneOf } from '../../core/local-time.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { noValues } from '../../store/stat-fields.ts'

/** Twenty readings an hour: 75 % of them is a whole number. */
const perHour = 20
const expected: ExpectedCount = (fromMs, toMs) =>
  Math.floor(Math.max(0, toMs - fromMs) / (hourMs / perHour))

type Step = Found['steps'][number]
const step = (number: number, readings: number, pm25 = readings): Step => ({
  step: number,
  readings,
  leftOut: 2,
  fields: { pm25: { ...noValues, n: pm25 } },
})

type Wishes = {
  readonly nowMs?: number
  readonly interval?: 'hour' | 'weekday'
  readonly due?: ExpectedCount
}

function shown(
  steps: readonly Step[],
  { nowMs = 100 * hourMs, interval = 'hour', due = expected }: Wishes = {},
) {
  const count = Math.max(...steps.map((one) => one.step)) + 1
  const grid = {
    edges: Array.from({ length: count + 1 }, (_, at) => at * hourMs),
    steps: Array.from({ length: count }, (_, at) => at),
    numbers: Array.from({ length: count }, (_, at) => at),
    nextMs: undefined,
  }
  return stepsJson({
    found: { grid, steps, basis: 'readings' },
    interval,
    zone: timeZoneOf('UTC')!,
    measurements: ['pm25'],
    numbers: ['mean'],
    index: storedIndex,
    corrections: [],
    expected: due,
    nowMs,
  })
}

describe('a step', () => {
  test('is valid from 75 % of its readings on, and no sooner', () => {
    const steps = shown([step(0, 14), step(1, 15), step(2, 16)])
    expect(steps.map(({ valid }) => valid)).toEqual([false, true, true])
  })

  test('is valid by the quantity too: each by its own number', () => {
    const [one] = shown([step(0, 20, 14)])
    expect(one).toMatchObject({ valid: true, measurements: { pm25: { n: 14, valid: false } } })
  })

  test('that still runs is measured by all of it, and its coverage by what is due until now', () => {
    const [one] = shown([step(0, 10)], { nowMs: 30 * minuteMs })
    expect(one).toMatchObject({
      valid: false,
      coverage: { expected: 10, observed: 10, percent: 100 },
    })
  })

  test('says how many failed readings it left out', () => {
    expect(shown([step(0, 20), step(1, 0)]).map(({ left_out }) => left_out)).toEqual([2, 2])
  })

  test('in which no sensor should send is not valid, whatever it holds', () => {
    const [one] = shown([step(0, 5)], { due: () => 0 })
    expect(one).toMatchObject({
      valid: false,
      coverage: { expected: 0, observed: 5, percent: null },
    })
  })
})

test('a step of weekdays has the name of its day', () => {
  const days = shown(
    [1, 2, 3, 4, 5, 6, 7].map((day) => step(day, 1)),
    { interval: 'weekday' },
  )
  expect(
    days
      .map(({ weekday }) => weekday)
      .filter((day) => day !== '')
      .join(' '),
  ).toBe('monday tuesday wednesday thursday friday saturday sunday')
})

test('coverage is never above all of it', () => {
  expect(coverageJson(10, 12).percent).toBe(100)
  expect(coverageJson(3, 2).percent).toBe(66.7)
})
