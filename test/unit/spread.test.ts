import { array, assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleSd, squaresOf } from '../../core/air/spread.ts'

/** As a book has it, in exact fractions of n · (n − 1). */
function plainSd(values: readonly number[]): number {
  const n = BigInt(values.length)
  const [sum, squares] = sumsOf(values)
  return Math.sqrt(Number(n * squares - sum * sum)) / Math.sqrt(Number(n * (n - 1n)))
}

const sumsOf = (values: readonly number[]): [sum: bigint, squares: bigint] => {
  const whole = values.map(BigInt)
  return [whole.reduce((a, b) => a + b, 0n), whole.reduce((a, b) => a + b * b, 0n)]
}

describe('the deviation of a sample', () => {
  test('divides by one less than there are', () => {
    expect(sampleSd(3, 6, 14)).toBe(1)
    expect(sampleSd(2, 10, 58)).toBeCloseTo(Math.SQRT2 * 2, 12)
  })

  test('is unknown below two values, and where a sum is', () => {
    expect(sampleSd(1, 5, 25)).toBeNull()
    expect(sampleSd(9, 5, Number.NaN)).toBeNull()
  })

  test('is that of the values, and its sum of squares is found again, also where a double is too short', () => {
    const values = array(integer({ min: 0, max: 200_000 }), { minLength: 2, maxLength: 200 })
    assert(
      property(values, integer({ min: 1, max: 4_000 }), (few, times) => {
        const many = Array.from({ length: times }, () => few)
          .flat()
          .slice(0, 100_000)
        const [sum, squares] = sumsOf(many)
        const sd = sampleSd(many.length, Number(sum), Number(squares))
        expect(sd).toBeCloseTo(plainSd(many), 6)
        const again = squaresOf(many.length, Number(sum), sd)
        expect(sampleSd(many.length, Number(sum), again)).toBeCloseTo(sd ?? Number.NaN, 5)
      }),
      { numRuns: 30 },
    )
  })

  test('of values that differ by one, far from zero, is not lost in rounding', () => {
    // a year of readings every minute, half of them one higher: n times the squares is above 2^53
    const [n, low] = [500_000, 90_000]
    const sum = n * low + n / 2
    const squares = (n / 2) * low * low + (n / 2) * (low + 1) * (low + 1)
    const sd = sampleSd(n, sum, squares)
    expect(sd).toBeCloseTo(Math.sqrt(n / (n - 1)) / 2, 12)
    expect(squaresOf(n, sum, sd)).toBe(squares)
  })

  test('of the largest values that are believed gives their sum of squares to the last digit', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const values = Array.from({ length: 500 }, (_, i) => 3_990_000 + ((i * seed * 37) % 997))
      const [sum, squares] = sumsOf(values).map(Number) as [number, number]
      expect(squaresOf(500, sum, sampleSd(500, sum, squares)), `${seed}`).toBe(squares)
    }
  })
})
