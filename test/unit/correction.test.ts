import { assert, double, property } from 'fast-check'
import { expect, test } from 'vitest'
import { pm25Corrected } from '../../core/air/correction.ts'
import fixture from '../fixtures/correction-vectors.json' with { type: 'json' }

test.each(fixture.vectors)(
  '$pm25UgM3 µg/m³ at $humidityPercent % is corrected to $corrected',
  ({ pm25UgM3, humidityPercent, corrected }) => {
    const got = pm25Corrected(pm25UgM3, humidityPercent) ?? Number.NaN
    expect(Math.abs(got - corrected), 'the fixture has four decimals').toBeLessThan(1e-4)
  },
)

test('nothing is corrected if PM2.5 or humidity is missing', () => {
  expect(pm25Corrected(10, null)).toBeNull()
  expect(pm25Corrected(null, 50)).toBeNull()
})

test('clean and humid air is corrected to 0, not below', () => {
  expect(pm25Corrected(0, 100)).toBe(0)
})

test.each([30, 50, 210, 260])('the pieces meet at %d µg/m³', (edge) => {
  assert(
    property(double({ min: 0, max: 100, noNaN: true }), (humidity) => {
      const below = pm25Corrected(edge - 1e-9, humidity) ?? Number.NaN
      expect(pm25Corrected(edge, humidity)).toBeCloseTo(below, 3)
    }),
  )
})

test('more dust is never corrected to less', () => {
  const ugM3 = double({ min: 0, max: 1_000, noNaN: true })
  assert(
    property(ugM3, ugM3, double({ min: 0, max: 100, noNaN: true }), (a, b, humidity) => {
      const low = pm25Corrected(Math.min(a, b), humidity) ?? Number.NaN
      expect(pm25Corrected(Math.max(a, b), humidity)).toBeGreaterThanOrEqual(low)
    }),
  )
})
