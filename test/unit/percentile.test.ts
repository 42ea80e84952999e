import { array, assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { median, percentile } from '../../core/air/percentile.ts'

const oneTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)

describe('percentile', () => {
  test.each([
    { n: 1, p: 98, rank: 1 },
    { n: 1, p: 0, rank: 1 },
    { n: 2, p: 50, rank: 1 },
    { n: 3, p: 50, rank: 2 },
    { n: 10, p: 98, rank: 10 },
    { n: 24, p: 98, rank: 24 },
    { n: 25, p: 98, rank: 25 },
    { n: 26, p: 98, rank: 25 },
    { n: 100, p: 98, rank: 98 },
    { n: 288, p: 98, rank: 282 },
    { n: 288, p: 100, rank: 288 },
  ])('$p of $n values is the one of rank $rank', ({ n, p, rank }) => {
    expect(percentile(oneTo(n), p)).toBe(rank)
  })

  test('no values have none', () => {
    expect(percentile([], 98)).toBeNull()
  })

  test('is one of the values, and never falls as p grows', () => {
    const list = array(integer({ min: -100, max: 100 }), { minLength: 1 })
    const percent = integer({ min: 0, max: 100 })
    assert(
      property(list, percent, percent, (values, p, q) => {
        const sorted = Int32Array.from(values).toSorted()
        const lower = percentile(sorted, Math.min(p, q)) ?? Number.NaN
        expect(sorted).toContain(lower)
        expect(percentile(sorted, Math.max(p, q))).toBeGreaterThanOrEqual(lower)
      }),
    )
  })
})

describe('median', () => {
  test.each([
    { sorted: [], middle: null },
    { sorted: [7], middle: 7 },
    { sorted: [1, 2], middle: 1.5 },
    { sorted: [1, 2, 9], middle: 2 },
    { sorted: [0, 0, 5, 100], middle: 2.5 },
  ])('of $sorted is $middle', ({ sorted, middle }) => {
    expect(median(sorted)).toBe(middle)
  })

  test('has as many values below as above', () => {
    assert(
      property(array(integer(), { minLength: 1 }), (values) => {
        const middle = median(values.toSorted((a, b) => a - b)) ?? Number.NaN
        const below = values.filter((value) => value < middle).length
        const above = values.filter((value) => value > middle).length
        expect(below).toBeLessThanOrEqual(values.length / 2)
        expect(above).toBeLessThanOrEqual(values.length / 2)
      }),
    )
  })
})
