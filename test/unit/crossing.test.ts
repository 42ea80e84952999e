import { array, assert, integer, oneof, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { armedFrom, cross, someInside } from '../../core/state/crossing.ts'

/** Which of the readings make the threshold fire, by the folded integer. */
function firesOf(threshold: number, indices: readonly number[]): number[] {
  let firedBelow = 0
  let previous: number | null = null
  const fires: number[] = []
  indices.forEach((aqi, i) => {
    const crossed = cross(firedBelow, previous, aqi)
    if (crossed.from <= threshold && threshold < crossed.to) fires.push(i)
    firedBelow = crossed.firedBelow
    previous = aqi
  })
  return fires
}

/** The same by the rule itself, for one threshold. */
function firesByRule(threshold: number, indices: readonly number[]): number[] {
  let isArmed = true
  const fires: number[] = []
  indices.forEach((aqi, i) => {
    const before = indices[i - 1]
    if (before !== undefined && Math.max(before, aqi) <= threshold - 10) isArmed = true
    if (isArmed && aqi > threshold) {
      isArmed = false
      fires.push(i)
    }
  })
  return fires
}

describe('a threshold of 150', () => {
  test.each([
    { what: 'fires when the first reading is above it', indices: [151], fires: [0] },
    { what: 'does not fire at 150', indices: [150, 150], fires: [] },
    { what: 'fires once while the index stays above', indices: [100, 151, 180, 300], fires: [1] },
    { what: 'does not fire again after a dip to 141', indices: [151, 141, 141, 160], fires: [0] },
    { what: 'does not re-arm by one reading of 140', indices: [151, 140, 141, 160], fires: [0] },
    { what: 'does not re-arm by 140 twice, apart', indices: [151, 140, 141, 140, 160], fires: [0] },
    { what: 're-arms by 140 twice in a row', indices: [151, 140, 140, 160], fires: [0, 3] },
    { what: 'does not fire while it re-arms', indices: [151, 100, 100, 100], fires: [0] },
  ])('$what', ({ indices, fires }) => {
    expect(firesOf(150, indices)).toEqual(fires)
    expect(firesByRule(150, indices)).toEqual(fires)
  })
})

test('one integer holds the rule for every threshold from 0 to 500', () => {
  const thresholds = Array.from({ length: 501 }, (_, threshold) => threshold)
  const index = oneof(integer({ min: 0, max: 500 }), integer({ min: 130, max: 170 }))
  assert(
    property(array(index, { maxLength: 40 }), (indices) => {
      const disagreeing = thresholds.filter(
        (threshold) =>
          firesOf(threshold, indices).join() !== firesByRule(threshold, indices).join(),
      )
      expect(disagreeing).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('the form without an object gives the same result', () => {
  const index = integer({ min: 0, max: 500 })
  assert(
    property(integer({ min: 0, max: 510 }), index, index, (firedBelow, previous, aqi) => {
      const from = armedFrom(firedBelow, previous, aqi)
      const next = Math.max(from, aqi)
      expect(cross(firedBelow, previous, aqi)).toEqual({ from, to: aqi, firedBelow: next })
    }),
  )
})

test('a threshold inside is found exactly if a plain search finds one', () => {
  const index = integer({ min: 0, max: 60 })
  assert(
    property(array(index), index, index, (list, from, to) => {
      const thresholds = list.toSorted((a, b) => a - b)
      expect(someInside(thresholds, from, to)).toBe(thresholds.some((t) => from <= t && t < to))
    }),
  )
})
