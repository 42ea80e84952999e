import { expect, test } from 'vitest'
import { isOver, whoDay, whoLevels, whoYear } from '../../core/air/who-2021.ts'

/** WHO global air quality guidelines, 2021, tables 3.1, 3.6 (PM2.5) and 3.9, 3.14 (PM10), in µg/m³. */
test('the levels are those of the guidelines, from the first interim target to the guideline', () => {
  const inOrder = (levels: { readonly [Level in (typeof whoLevels)[number]]: number }) =>
    whoLevels.map((level) => levels[level])
  expect(inOrder(whoYear.pm25)).toEqual([35, 25, 15, 10, 5])
  expect(inOrder(whoYear.pm10)).toEqual([70, 50, 30, 20, 15])
  expect(inOrder(whoDay.pm25)).toEqual([75, 50, 37.5, 25, 15])
  expect(inOrder(whoDay.pm10)).toEqual([150, 100, 75, 50, 45])
})

test('a mean at its level is not over it, also as a sum of decimals', () => {
  expect(isOver(15, 15)).toBe(false)
  expect(isOver((14.1 + 15.9 + 0.1 + 29.9) / 4, 15)).toBe(false)
  expect(isOver(15.01, 15)).toBe(true)
})
