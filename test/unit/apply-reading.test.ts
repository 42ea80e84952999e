import { describe, expect, test } from 'vitest'
import {
  applyLate,
  applyNewer,
  createOutcome,
  humidityRun,
} from '../../core/state/apply-reading.ts'
import { createState, newestOf, plainState, slotOf } from '../../core/state/partition-state.ts'
import { silenceMsOf, statusOf } from '../../core/state/presence.ts'
import { warmCaches } from '../../core/state/warm-caches.ts'
import { minuteMs } from '../../core/time.ts'
import { readingOf, type Unnumbered } from '../support/small-worker.ts'

const at = Date.UTC(2026, 2, 1, 10)

function oneSensor() {
  const state = createState(0)
  const slot = slotOf(state, readingOf(at).sensor)
  const outcome = createOutcome()
  return {
    state,
    slot,
    apply: (reading: Unnumbered) => {
      applyNewer(state, slot, reading, 1, outcome)
      return { ...outcome }
    },
  }
}

describe('the first reading of a sensor', () => {
  test('brings it online, never offline before, and fires every threshold below its index', () => {
    const { state, slot, apply } = oneSensor()
    expect(statusOf(state, slot)).toBe('unheard')
    expect(apply(readingOf(at, { aqi: 180 }))).toEqual({
      rise: true,
      from: 0,
      to: 180,
      previousAqi: null,
      cameOnline: true,
      offlineSinceMs: null,
      levelWas: 0,
      level: 0,
    })
    expect(statusOf(state, slot)).toBe('online')
  })

  test('leaves it unheard if it is back-fill', () => {
    const { state, slot, apply } = oneSensor()
    expect(apply(readingOf(at, { arrivedMs: at + 30 * minuteMs + 1 }))).toMatchObject({
      rise: false,
      cameOnline: false,
    })
    expect(statusOf(state, slot)).toBe('unheard')
    expect(newestOf(state, slot)?.timeMs).toBe(at)
  })

  test('is fresh 30 minutes after its time', () => {
    const { apply } = oneSensor()
    expect(apply(readingOf(at, { arrivedMs: at + 30 * minuteMs }))).toMatchObject({
      rise: true,
      cameOnline: true,
    })
  })
})

describe('crossings', () => {
  test('name the previous index', () => {
    const { apply } = oneSensor()
    apply(readingOf(at, { aqi: 100 }))
    expect(apply(readingOf(at + 1, { aqi: 180 }))).toMatchObject({
      rise: true,
      from: 100,
      to: 180,
      previousAqi: 100,
    })
  })

  test('ignore a reading without an index', () => {
    const { apply } = oneSensor()
    apply(readingOf(at, { aqi: 151 }))
    apply(readingOf(at + 1, { aqi: 140 }))
    expect(apply(readingOf(at + 2, { aqi: null })).rise).toBe(false)
    expect(apply(readingOf(at + 3, { aqi: 140 })).rise).toBe(false)
    expect(apply(readingOf(at + 4, { aqi: 151 }))).toMatchObject({ rise: true, from: 150 })
  })

  test('ignore back-fill, even if it is the newest', () => {
    const { apply } = oneSensor()
    apply(readingOf(at, { aqi: 100 }))
    const late = { aqi: 400, arrivedMs: at + 40 * minuteMs }
    expect(apply(readingOf(at + minuteMs, late)).rise).toBe(false)
    expect(apply(readingOf(at + 2 * minuteMs, { aqi: 120 }))).toMatchObject({
      from: 100,
      previousAqi: 100,
    })
  })
})

describe('humidity', () => {
  const lengths = (values: readonly (number | null)[]) => {
    const { state, slot, apply } = oneSensor()
    return values.map((humidity, i) => {
      const run = humidityRun(state, slot, humidity)
      apply(readingOf(at + i, { humidity }))
      return run
    })
  }

  test('that stays equal is counted, this reading included', () => {
    expect(lengths([9_990, 9_990, 9_990, 7_000, 7_000])).toEqual([1, 2, 3, 1, 2])
  })

  test('that is missing neither lengthens nor breaks a run, and is not a run itself', () => {
    expect(lengths([null, 0, null, 0, null, 1])).toEqual([0, 1, 0, 2, 0, 1])
  })

  test('is counted far enough to detect a stuck sensor, up to 255', () => {
    const all = lengths(Array.from({ length: 400 }, () => 9_990))
    expect(all[23]).toBe(24)
    expect(Math.max(...all)).toBe(255)
  })
})

test('silence is counted by the listening clock, from the last fresh reading', () => {
  const { state, slot, apply } = oneSensor()
  expect(silenceMsOf(state, slot)).toBeNaN()
  state.listenedMs = 1_000
  apply(readingOf(at))
  state.listenedMs = 5_000
  apply(readingOf(at + 1, { arrivedMs: at + 60 * minuteMs }))
  expect(silenceMsOf(state, slot)).toBe(4_000)
})

test('a late reading changes neither the newest, nor presence, nor crossings', () => {
  const { state, slot, apply } = oneSensor()
  apply(readingOf(at))
  const before = plainState(state)
  applyLate(state, slot, readingOf(at - 90 * minuteMs, { aqi: 400, arrivedMs: at }))
  const statistics = { uptimeBits: [], hourSums: [], hourCounts: [] }
  expect({ ...plainState(state), ...statistics }).toEqual({ ...before, ...statistics })
  expect(plainState(state)).not.toEqual(before)
})

test('warming the caches for a batch changes nothing, not even for unknown sensors', () => {
  const { state, apply } = oneSensor()
  apply(readingOf(at))
  const before = plainState(state)
  warmCaches(state, [
    readingOf(at + 1),
    readingOf(at, { sensor: 'NGR-LOS-IKJ-999' as Unnumbered['sensor'] }),
  ])
  expect(plainState(state)).toEqual(before)
})
