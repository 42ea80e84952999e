import { array, assert, double, integer, option, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { truncate } from '../../core/air/index/air-index.ts'
import { usIndex, usStepsPerUnit } from '../../core/air/index/us-epa.ts'
import { dailyMean, nowcast } from '../../core/air/nowcast.ts'
import fixture from '../fixtures/nowcast-vectors.json' with { type: 'json' }

const mean = double({ min: 0, max: 1_000, noNaN: true })
const hours = (length: number) => array(option(mean), { minLength: length, maxLength: length })
const presentOf = (list: readonly (number | null)[]) => list.filter((hour) => hour !== null)

describe('nowcast', () => {
  test('gives the results of AirNow', () => {
    const now = nowcast(fixture.hours) ?? Number.NaN
    expect(now).toBeCloseTo(fixture.nowcast, 4)
    expect(truncate(now, usStepsPerUnit.pm25) / 100).toBe(fixture.truncated)
    expect(usIndex.ofConcentration('pm25', now)).toBe(fixture.aqi)
  })

  test.each<{ what: string; list: (number | null)[]; now: number | null }>([
    { what: 'steady air is itself', list: Array(12).fill(20), now: 20 },
    { what: 'clean air is 0', list: Array(12).fill(0), now: 0 },
    { what: 'half the weight at least passes on', list: [0, 30], now: 10 },
    { what: 'the newest hour may be missing', list: [null, 10, 10], now: 10 },
    { what: 'the second hour may be missing', list: [10, null, 10], now: 10 },
    { what: 'one hour of the newest three is too few', list: [10, null, null, 10, 10], now: null },
    { what: 'a gap keeps its weight for itself', list: [40, null, 10], now: 34 },
    { what: 'no hour at all is nothing', list: [], now: null },
    { what: 'a thirteenth hour is not looked at', list: [...Array(12).fill(20), 900], now: 20 },
  ])('$what', ({ list, now }) => {
    expect(nowcast(list)).toBe(now)
  })

  test('lies between the lowest and the highest hour, with two of the newest three', () => {
    const valid = hours(12).filter((list) => presentOf(list.slice(0, 3)).length >= 2)
    assert(
      property(valid, (list) => {
        const now = nowcast(list)
        expect(now).toBeGreaterThanOrEqual(Math.min(...presentOf(list)) - 1e-9)
        expect(now).toBeLessThanOrEqual(Math.max(...presentOf(list)) + 1e-9)
      }),
    )
  })

  test('is null with fewer than two of the newest three, whatever came before', () => {
    assert(
      property(option(mean), integer({ min: 0, max: 2 }), hours(9), (hour, at, older) => {
        const newest = [null, null, null].map((none, i) => (i === at ? hour : none))
        expect(nowcast([...newest, ...older])).toBeNull()
      }),
    )
  })
})

describe('dailyMean', () => {
  test.each<{ what: string; list: (number | null)[]; day: number | null }>([
    { what: 'eighteen hours are enough', list: Array(18).fill(12), day: 12 },
    { what: 'seventeen are not', list: [...Array(17).fill(12), ...Array(7).fill(null)], day: null },
    {
      what: 'missing hours do not count as 0',
      list: [...Array(6).fill(null), ...Array(9).fill(10), ...Array(9).fill(20)],
      day: 15,
    },
    { what: 'a 25th hour is not looked at', list: [...Array(24).fill(10), 900], day: 10 },
  ])('$what', ({ list, day }) => {
    expect(dailyMean(list)).toBe(day)
  })

  test('the order of the hours does not matter', () => {
    const valid = hours(24).filter((list) => presentOf(list).length >= 18)
    assert(
      property(valid, (list) => {
        const forwards = dailyMean(list) ?? Number.NaN
        expect(dailyMean(list.toReversed())).toBeCloseTo(forwards, 6)
      }),
    )
  })
})
