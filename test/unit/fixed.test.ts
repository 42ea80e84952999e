import { assert, double, integer, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'
import { fromHundredths, toHundredths } from '../../core/air/hundredths.ts'

test.each([
  [1.005, 101],
  [1.004999, 100],
  [-0.125, -13],
  [-0.004, 0],
  [-0.005, -1],
  [-0, 0],
  [0.29, 29],
  [1.15, 115],
  [8.345, 835],
  [999.9, 99_990],
  [9.995, 1_000],
  [0.00499999999999999, 0],
  [5e-324, 0],
  [40_000, 4_000_000],
  [999_999_999_999.985, 99_999_999_999_999],
  [1e12, 1e14],
  [-1e300, -1e14],
  // what JSON has as 1e400
  [Number.POSITIVE_INFINITY, 1e14],
  [Number.NEGATIVE_INFINITY, -1e14],
])('%d is %d hundredths', (value, hundredths) => {
  expect(toHundredths(value)).toBe(hundredths)
})

test('NaN has no hundredths', () => {
  expect(toHundredths(Number.NaN)).toBeUndefined()
})

/** The rule on the decimal text itself, digit by digit. */
function roundText(value: number): number {
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  // |value| = digits · 10^shift hundredths
  const shift = Number(exponent) - fraction.length + 2
  const size =
    shift >= 0
      ? digits * 10n ** BigInt(shift)
      : (2n * digits + 10n ** BigInt(-shift)) / (2n * 10n ** BigInt(-shift))
  return size === 0n ? 0 : Math.sign(value) * Number(size)
}

const neighbour = (value: number, steps: number): number => {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(steps))
  return view.getFloat64(0)
}

test('any number rounds as its shortest decimal text does', () => {
  const anyDouble = double({ min: -1e12, max: 1e12, maxExcluded: true, minExcluded: true })
  const measured = double({ min: -1000, max: 1000, noNaN: true })
  const anySize = oneof(anyDouble, measured).filter((value) => !Number.isNaN(value))
  assert(
    property(anySize, (value) => {
      expect(toHundredths(value)).toBe(roundText(value))
    }),
    { numRuns: 5_000 },
  )
})

test('ties and their closest neighbours round as their shortest decimal texts do', () => {
  const ties = oneof(
    integer({ min: 0, max: 200_000 }),
    integer({ min: 0, max: 99_999_999_999_998 }),
  )
  assert(
    property(ties, integer({ min: -3, max: 3 }), (hundredths, steps) => {
      const value = neighbour(Number(`${hundredths}5e-3`), steps)
      expect(toHundredths(value)).toBe(roundText(value))
      expect(toHundredths(-value)).toBe(roundText(-value))
    }),
    { numRuns: 5_000 },
  )
})

test('hundredths survive the way out and back in', () => {
  assert(
    property(integer({ min: -99_999_999_999_999, max: 99_999_999_999_999 }), (hundredths) => {
      expect(toHundredths(fromHundredths(hundredths))).toBe(hundredths)
    }),
  )
})
