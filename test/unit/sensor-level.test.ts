import { expect, test } from 'vitest'
import { maskOf } from '../../core/air/quality.ts'
import { createState } from '../../core/state/partition-state.ts'
import { foldLevel, levelAt, sensorLevelOf } from '../../core/state/sensor-level.ts'
import { minuteMs } from '../../core/time.ts'

const [good, suspect, fail] = [0, maskOf('pm_spike'), maskOf('pm_stuck')]

/** The level after each of these readings, `stepMs` apart. */
function levels(flags: readonly number[], stepMs = 10 * minuteMs): string[] {
  const state = createState(5)
  return flags.map((flag, i) => {
    const level = levelAt(foldLevel(state, 0, i * stepMs, flag))
    expect(sensorLevelOf(state, 0)).toBe(level)
    return level
  })
}

const times = (count: number, flag: number): number[] => Array<number>(count).fill(flag)

test('a sensor gets better with its twelfth better reading, and worse with the first worse one', () => {
  expect(levels([suspect, ...times(12, good)]).map((level) => level === 'good')).toEqual([
    ...Array<boolean>(12).fill(false),
    true,
  ])
  expect(levels([good, suspect, fail])).toEqual(['good', 'suspect', 'fail'])
})

test('twelve readings that take less than an hour are too few', () => {
  const often = levels([suspect, ...times(80, good)], minuteMs)
  // the first better one is in minute 1
  expect(often.indexOf('good')).toBe(61)
})

test('it gets as good as the worst of those twelve', () => {
  const mixed = [fail, ...times(5, good), suspect, ...times(6, good)]
  expect(levels(mixed).at(-1)).toBe('suspect')
})

test('a reading as bad as the level begins the count again', () => {
  const again = [suspect, ...times(11, good), suspect, ...times(11, good)]
  expect(new Set(levels(again))).toEqual(new Set(['suspect']))
})
