import { expect, test } from 'vitest'
import { flags } from '../../core/air/quality.ts'
import { basicNames, countAtLevel, quantities, quantityNames } from '../../core/air/quantities.ts'
import {
  measurementsOf,
  mostValues,
  sameValues,
  trimmed,
  valueOf,
  valuesOf,
} from '../../core/air/values.ts'
import { newestLevel } from '../../schemas/format-level.ts'

test('the ids are those that are stored: append, never reorder', () => {
  expect(quantityNames).toEqual([
    'pm25',
    'pm10',
    'co2',
    'temperature',
    'humidity',
    'pm1',
    'pm4',
    'pressure',
    'no2',
    'o3',
    'co',
    'so2',
    'voc_index',
    'nox_index',
    'tvoc',
    'noise',
  ])
  expect(quantityNames.slice(0, basicNames.length)).toEqual(basicNames)
})

test('no name and no flag is given twice, and every flag fits a number of 31 bits', () => {
  expect(new Set(quantityNames).size).toBe(quantities.length)
  const bits = Object.values(flags)
  expect(new Set(bits).size).toBe(bits.length)
  for (const bit of bits) expect(1 << bit).toBeGreaterThan(0)
})

test('a level takes the quantities of the levels before it, and the newest takes all', () => {
  const levels = quantities.map(({ level }) => level)
  expect(levels).toEqual(levels.toSorted((a, b) => a - b))
  expect(countAtLevel(1)).toBe(basicNames.length)
  expect(countAtLevel(newestLevel)).toBe(mostValues)
})

test('ranges are whole hundredths that statistics can hold, and a usual one is inside', () => {
  for (const { hard, usual = hard } of quantities) {
    expect([hard.low, usual.low, usual.high, hard.high].every(Number.isSafeInteger)).toBe(true)
    expect(Math.max(-hard.low, hard.high)).toBeLessThan(2 ** 31)
    expect([usual.low >= hard.low, usual.high <= hard.high]).toEqual([true, true])
    expect(hard.low).toBeLessThan(hard.high)
  }
})

test('equal values are equal lists: a list never ends with a missing value', () => {
  const some = valuesOf({ pm25: 1, pressure: 101_300 })
  expect(some).toEqual([1, null, null, null, null, null, null, 101_300])
  expect(trimmed([...some, null, null])).toEqual(some)
  expect(valuesOf({})).toEqual([null, null, null, null, null])
  expect(valueOf(some, 'pressure')).toBe(101_300)
  expect(valueOf(some, 'noise')).toBeNull()
})

test.each(quantityNames)('readings that differ only in %s are not the same', (name) => {
  const values = valuesOf({ pm25: 1, noise: 1 })
  expect(sameValues(values, valuesOf({ pm25: 1, noise: 1 }))).toBe(true)
  expect(sameValues(values, valuesOf({ pm25: 1, noise: 1, [name]: 2 }))).toBe(false)
  expect(sameValues(values, valuesOf({ pm25: 1, noise: 1, [name]: null }))).toBe(
    name !== 'pm25' && name !== 'noise',
  )
})

test('measurements always have the basic five, and others only where present', () => {
  expect(measurementsOf(valuesOf({ pm10: 3_000, no2: 1_234 }))).toEqual({
    pm25: null,
    pm10: 30,
    co2: null,
    temperature: null,
    humidity: null,
    no2: 12.34,
  })
})
