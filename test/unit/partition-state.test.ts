import { describe, expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { valuesOf } from '../../core/air/values.ts'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import {
  compareToNewest,
  createState,
  findSlot,
  newestOf,
  plainState,
  slotOf,
} from '../../core/state/partition-state.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

const at = Date.UTC(2026, 2, 1, 10)
const outcome = createOutcome()

test('looking up an unknown sensor does not add it', () => {
  const state = createState(0)
  expect(findSlot(state, sensorNamed(1))).toBe(-1)
  expect(state.ids).toEqual([])
})

test('sensors keep their slots and their readings while the columns grow', () => {
  const state = createState(0, 1)
  const sensors = Array.from({ length: 1_000 }, (_, i) => sensorNamed(i))
  sensors.forEach((sensor, i) => {
    applyNewer(
      state,
      slotOf(state, sensor),
      readingOf(at + i, { sensor }),
      seqOf(0, i + 1),
      outcome,
    )
  })
  expect(sensors.map((sensor) => slotOf(state, sensor))).toEqual(sensors.map((_, i) => i))
  expect(sensors.map((_, slot) => newestOf(state, slot)?.timeMs)).toEqual(
    sensors.map((_, i) => at + i),
  )
})

test('spare capacity is not part of the state', () => {
  const [small, big] = [createState(0, 1), createState(0, 500)]
  for (const state of [small, big])
    applyNewer(state, slotOf(state, sensorNamed(1)), readingOf(at), 1, outcome)
  expect(plainState(small)).toEqual(plainState(big))
})

describe('the newest reading', () => {
  test('is undefined for a slot never assigned or a sensor never heard', () => {
    const state = createState(0)
    expect(newestOf(state, 0)).toBeUndefined()
    expect(newestOf(state, -1)).toBeUndefined()
    expect(newestOf(state, slotOf(state, sensorNamed(1)))).toBeUndefined()
  })

  test('is returned as it was accepted, missing values too', () => {
    const state = createState(5)
    const slot = slotOf(state, sensorNamed(1))
    const full = readingOf(at, { pm25: 0, co2: 41_000, temperature: -4_000, flags: 2_047 })
    applyNewer(state, slot, full, seqOf(5, 1), outcome)
    const { arrivedMs: _, ...kept } = full
    expect(newestOf(state, slot)).toEqual({ ...kept, seq: seqOf(5, 1) })

    const none = { values: valuesOf({}), aqi: null }
    applyNewer(
      state,
      slot,
      { ...full, ...none, area: 'Lekki', timeMs: at + 1 },
      seqOf(5, 2),
      outcome,
    )
    expect(newestOf(state, slot)).toMatchObject({ ...none, area: 'Lekki', seq: seqOf(5, 2) })
  })
})

describe('a reading compared with the newest of its sensor', () => {
  const state = createState(0)
  const slot = slotOf(state, sensorNamed(1))
  applyNewer(state, slot, readingOf(at), 1, outcome)

  test.each([
    ['newer', readingOf(at + 1)],
    ['older', readingOf(at - 1)],
    ['duplicate', readingOf(at, { area: 'elsewhere', arrivedMs: at + 9 })],
    ['conflict', readingOf(at, { pm25: 1_851 })],
    ['conflict', readingOf(at, { pm10: null })],
    ['conflict', readingOf(at, { co2: 0 })],
    ['conflict', readingOf(at, { temperature: 0 })],
    ['conflict', readingOf(at, { humidity: 7_001 })],
  ] as const)('is %s', (verdict, reading) => {
    expect(compareToNewest(state, slot, reading)).toBe(verdict)
  })

  test('is newer if there is none', () => {
    expect(compareToNewest(state, slotOf(state, sensorNamed(2)), readingOf(0))).toBe('newer')
  })
})
