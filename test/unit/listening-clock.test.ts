import { array, assert, boolean, integer, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { longestStepMs, startListening, tickListening } from '../../core/state/listening-clock.ts'

/** Ticks at these times, each with whether the worker was listening then. */
const listened = (ticks: readonly (readonly [nowMs: number, listening: boolean])[]): number =>
  ticks.reduce(
    (clock, [nowMs, listening]) => tickListening(clock, nowMs, listening),
    startListening(10_000),
  ).listenedMs

describe('the listening clock', () => {
  test('runs between two ticks at both of which the worker listened', () => {
    expect(
      listened([
        [0, true],
        [1_000, true],
        [2_500, true],
      ]),
    ).toBe(12_500)
  })

  test('stands still while the worker is cut off, from the tick before to the tick after', () => {
    expect(
      listened([
        [0, true],
        [1_000, false],
        [2_000, false],
        [3_000, true],
        [4_000, true],
      ]),
    ).toBe(11_000)
  })

  test('does not count the time before a start', () => {
    expect(listened([[5_000_000, true]])).toBe(10_000)
  })

  test('adds a bounded step for a process that was suspended for an hour', () => {
    expect(
      listened([
        [0, true],
        [3_600_000, true],
      ]),
    ).toBe(10_000 + longestStepMs)
  })

  test('adds nothing when time runs backwards, and continues from there', () => {
    expect(
      listened([
        [5_000, true],
        [1_000, true],
        [2_000, true],
      ]),
    ).toBe(11_000)
  })
})

test('it never runs backwards, nor faster than time', () => {
  const tick = record({ passedMs: integer({ min: 0, max: 20_000 }), listening: boolean() })
  assert(
    property(array(tick), (ticks) => {
      let clock = startListening(0)
      let nowMs = 0
      for (const { passedMs, listening } of ticks) {
        const before = clock.listenedMs
        nowMs += passedMs
        clock = tickListening(clock, nowMs, listening)
        expect(clock.listenedMs - before).toBeGreaterThanOrEqual(0)
        expect(clock.listenedMs - before).toBeLessThanOrEqual(passedMs)
      }
    }),
  )
})
