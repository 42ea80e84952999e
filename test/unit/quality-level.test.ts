import { assert, integer, property, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { droppedMask, flagNames, maskOf, namesOf } from '../../core/air/quality.ts'
import {
  failMask,
  isFail,
  levelOfFlag,
  qualityFilters,
  qualityLevels,
  qualityOf,
  refusedMaskOf,
} from '../../core/air/quality-level.ts'

describe('the level of a reading', () => {
  test('is known for every flag, by name', () => {
    const fails = flagNames.filter((name) => levelOfFlag[name] === 'fail')
    expect(fails).toEqual(['dropped_pm25', 'dropped_pm10', 'pm_saturated', 'pm_stuck'])
    const good = flagNames.filter((name) => levelOfFlag[name] === 'good')
    expect(good).toEqual(['time_assigned'])
    const rest = flagNames.filter((name) => levelOfFlag[name] === 'suspect')
    expect(fails.length + good.length + rest.length).toBe(flagNames.length)
  })

  test('without flags is good, and a flag that has no name changes nothing', () => {
    expect(qualityOf(0)).toBe('good')
    expect(qualityOf(1 << 30)).toBe('good')
  })

  test('a thermometer without a believable value does not fail the reading', () => {
    expect(qualityOf(maskOf('dropped_temperature'))).toBe('suspect')
    expect(failMask & droppedMask).toBe(maskOf('dropped_pm25') | maskOf('dropped_pm10'))
  })

  test('is the worst of its flags', () => {
    assert(
      property(subarray(flagNames), (names) => {
        const flags = names.reduce((bits, name) => bits | maskOf(name), 0)
        const worst = Math.max(0, ...names.map((name) => qualityLevels.indexOf(levelOfFlag[name])))
        expect(qualityOf(flags)).toBe(qualityLevels[worst])
        expect(isFail(flags)).toBe(qualityOf(flags) === 'fail')
        expect(namesOf(flags)).toHaveLength(names.length)
      }),
    )
  })

  test('filters let through what is as good', () => {
    const expected = {
      good: ['good', 'suspect', 'all'],
      suspect: ['suspect', 'all'],
      fail: ['all'],
    }
    assert(
      property(integer({ min: 0, max: 2 ** 30 - 1 }), (flags) => {
        const through = qualityFilters.filter((filter) => (flags & refusedMaskOf(filter)) === 0)
        expect(through).toEqual(expected[qualityOf(flags)])
      }),
    )
  })
})
