import { array, assert, integer, property, record, shuffledSubarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyLate, applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { compareToNewest, createState, slotOf } from '../../core/state/partition-state.ts'
import { uptime24h } from '../../core/state/uptime.ts'
import { dayMs, hourMs, minuteMs } from '../../core/time.ts'
import { readingOf } from '../support/small-worker.ts'

const slotMs = 5 * minuteMs
const nowMs = Date.UTC(2026, 2, 2, 10, 2)
const longAgo = nowMs - 100 * dayMs

/** A sensor that measured at these times; they arrive in this order. */
function measured(times: readonly number[]) {
  const state = createState(0)
  const slot = slotOf(state, readingOf(0).sensor)
  for (const timeMs of times) {
    const reading = readingOf(timeMs, { arrivedMs: nowMs })
    const place = compareToNewest(state, slot, reading)
    if (place === 'newer') applyNewer(state, slot, reading, 1, createOutcome())
    if (place === 'older') applyLate(state, slot, reading)
  }
  return (cadenceMs: number = slotMs, commissionedMs: number = longAgo, atMs: number = nowMs) =>
    uptime24h(state, slot, atMs, cadenceMs, commissionedMs)
}

/** One reading in each of the `count` five-minute slots before the running one. */
const slotsBack = (count: number): number[] =>
  Array.from({ length: count }, (_, k) => nowMs - (k + 1) * slotMs).toReversed()

describe('uptime over 24 hours', () => {
  test('is 0.98 for 282 of 288 slots', () => {
    expect(measured(slotsBack(288).toSpliced(100, 6))()).toBe(0.98)
  })

  test('is 1 for a sensor that misses nothing, however often it measures', () => {
    expect(measured(slotsBack(288))()).toBe(1)
    expect(measured(slotsBack(288).flatMap((ms) => [ms, ms + 1_000, ms + 60_000]))()).toBe(1)
  })

  test('is 0 for a sensor that never measured, is unknown or stopped a day ago', () => {
    expect(measured([])()).toBe(0)
    expect(uptime24h(createState(0), -1, nowMs, slotMs, longAgo)).toBe(0)
    expect(uptime24h(createState(0), 7, nowMs, slotMs, longAgo)).toBe(0)
    expect(measured(slotsBack(300).slice(0, 5))()).toBe(0)
  })

  test('neither counts nor misses the running five minutes', () => {
    const times = slotsBack(144)
    expect(measured(times)()).toBe(0.5)
    expect(measured([...times, nowMs])()).toBe(0.5)
  })

  test('is repaired by back-fill', () => {
    const times = slotsBack(288)
    expect(measured([...times.slice(144), ...times.slice(0, 144).toReversed()])()).toBe(1)
  })

  test('is not hurt by a clock that runs five minutes ahead', () => {
    expect(measured([...slotsBack(288), nowMs + slotMs])()).toBe(1)
  })
})

describe('a sensor commissioned less than 24 hours ago', () => {
  test('is measured since then', () => {
    expect(measured(slotsBack(12))(slotMs, nowMs - hourMs)).toBe(1)
    expect(measured(slotsBack(6))(slotMs, nowMs - hourMs)).toBe(0.55)
  })

  test('has 1 or 0 before its first slot is complete', () => {
    expect(measured([nowMs])(slotMs, nowMs - minuteMs)).toBe(1)
    expect(measured([])(slotMs, nowMs - minuteMs)).toBe(0)
    expect(measured([nowMs - hourMs])(slotMs, nowMs + hourMs)).toBe(0)
  })
})

describe('a slower cadence', () => {
  test('makes longer slots: hourly readings are all that is expected of an hourly sensor', () => {
    const hourly = slotsBack(288).filter((_, i) => i % 12 === 5)
    expect(measured(hourly)(hourMs)).toBe(1)
    expect(measured(hourly.slice(12))(hourMs)).toBe(0.5)
    expect(measured(hourly)()).toBe(0.08)
  })

  test('is rounded up to whole five minutes', () => {
    const everySeven = Array.from(
      { length: 205 },
      (_, k) => nowMs - 1_435 * minuteMs + k * 7 * minuteMs,
    )
    expect(measured(everySeven)(7 * minuteMs)).toBe(1)
  })

  test('of a day, or of seconds, is one slot, or slots of five minutes', () => {
    expect(measured([nowMs - 20 * hourMs])(dayMs)).toBe(1)
    expect(measured(slotsBack(288))(1_000)).toBe(1)
  })
})

test('it is the share of slots with a reading, whatever the order of arrival', () => {
  const minutes = array(integer({ min: -5, max: 40 * 60 }), { maxLength: 400 })
  const cases = minutes.chain((ages) =>
    record({
      ages: shuffledSubarray(ages, { minLength: ages.length }),
      // one slot at least is complete
      commissioned: integer({ min: 10, max: 40 * 60 }),
    }),
  )
  assert(
    property(cases, ({ ages, commissioned }) => {
      const running = Math.floor(nowMs / slotMs)
      const commissionedMs = nowMs - commissioned * minuteMs
      const first = Math.max(running - 288, Math.ceil(commissionedMs / slotMs))
      const kept = new Set(
        ages
          .map((age) => Math.floor((nowMs - age * minuteMs) / slotMs))
          .filter((number) => number >= first && number < running),
      )
      const uptime = measured(ages.map((age) => nowMs - age * minuteMs))(slotMs, commissionedMs)
      expect(uptime).toBe(Math.round((kept.size / (running - first)) * 100) / 100)
    }),
  )
})

test('it is never below 0, above 1 or not a number', () => {
  const ages = array(integer({ min: -5, max: 40 * 60 }), { maxLength: 50 })
  const cadence = integer({ min: 1, max: 86_400 })
  const commissioned = integer({ min: -600, max: 40 * 60 })
  assert(
    property(ages, cadence, commissioned, (minutesAgo, seconds, minutesOld) => {
      const times = minutesAgo.map((age) => nowMs - age * minuteMs)
      const uptime = measured(times)(seconds * 1_000, nowMs - minutesOld * minuteMs)
      expect(uptime >= 0 && uptime <= 1).toBe(true)
    }),
  )
})
