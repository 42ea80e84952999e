import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { createState, type PartitionState, slotOf } from '../../core/state/partition-state.ts'
import { offline } from '../../core/state/presence.ts'
import { createSilenceWheel } from '../../core/state/silence-wheel.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

const graceMs = 15 * minuteMs
const all = 1_000

function says(state: PartitionState, sensor: number, listenedMs: number): number {
  state.listenedMs = listenedMs
  const slot = slotOf(state, sensorNamed(sensor))
  applyNewer(
    state,
    slot,
    readingOf(listenedMs, { sensor: sensorNamed(sensor) }),
    1,
    createOutcome(),
  )
  return slot
}

describe('a sensor', () => {
  test('is due when its silence exceeds its grace, within a second, and then no more', () => {
    const state = createState(0)
    const wheel = createSilenceWheel(state, () => graceMs)
    wheel.watch(says(state, 1, 500))
    expect(wheel.due(graceMs + 500, all)).toEqual([])
    expect(wheel.due(graceMs + 500 + secondMs, all)).toEqual([0])
    expect(wheel.due(graceMs + minuteMs, all)).toEqual([])
  })

  test('that keeps sending is never due, though it is watched only once', () => {
    const state = createState(0)
    const wheel = createSilenceWheel(state, () => graceMs)
    wheel.watch(says(state, 1, 0))
    const due: number[] = []
    for (let listenedMs = 0; listenedMs < 600 * minuteMs; listenedMs += secondMs) {
      if (listenedMs % graceMs === 0) says(state, 1, listenedMs)
      due.push(...wheel.due(listenedMs, all))
    }
    expect(due).toEqual([])
    expect(wheel.due(600 * minuteMs + graceMs, all)).toEqual([0])
  })

  test('that is back is watched again', () => {
    const state = createState(0)
    const wheel = createSilenceWheel(state, () => graceMs)
    wheel.watch(says(state, 1, 0))
    expect(wheel.due(20 * minuteMs, all)).toEqual([0])
    state.status[0] = offline
    wheel.watch(says(state, 1, 30 * minuteMs))
    expect(wheel.due(45 * minuteMs, all)).toEqual([])
    expect(wheel.due(46 * minuteMs, all)).toEqual([0])
  })

  test('that is already offline, or unheard, is not watched', () => {
    const state = createState(0)
    says(state, 1, 0)
    slotOf(state, sensorNamed(2))
    state.status[0] = offline
    const wheel = createSilenceWheel(state, () => graceMs)
    wheel.watch(0)
    wheel.watch(1)
    expect(wheel.due(60 * minuteMs, all)).toEqual([])
  })

  test('is due by a grace that was shortened meanwhile, at most five minutes later', () => {
    const state = createState(0)
    let currentMs = 72 * 60 * minuteMs
    const wheel = createSilenceWheel(state, () => currentMs)
    wheel.watch(says(state, 1, 0))
    expect(wheel.due(20 * minuteMs, all)).toEqual([])
    currentMs = graceMs
    expect(wheel.due(25 * minuteMs + secondMs, all)).toEqual([0])
  })
})

test('a wheel made after a restart finds the sensors that the previous one would have found', () => {
  const state = createState(0)
  for (let sensor = 0; sensor < 100; sensor++) says(state, sensor, sensor * secondMs)
  state.listenedMs = 5 * minuteMs
  const wheel = createSilenceWheel(state, () => graceMs)
  expect(wheel.due(graceMs + 50 * secondMs, all).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 50 }, (_, slot) => slot),
  )
})

test('no more are due at once than the limit; the others follow', () => {
  const state = createState(0)
  const wheel = createSilenceWheel(state, () => graceMs)
  for (let sensor = 0; sensor < 2_500; sensor++) wheel.watch(says(state, sensor, sensor))
  const calls = [1, 2, 3, 4].map(() => wheel.due(60 * minuteMs, 1_000))
  expect(calls.map((slots) => slots.length)).toEqual([1_000, 1_000, 500, 0])
  expect(new Set(calls.flat()).size).toBe(2_500)
})

test('it finds exactly the sensors that a scan of all would find, at most a second later', () => {
  const graces = [3 * secondMs, 15 * minuteMs, 3 * 60 * minuteMs]
  const moment = record({
    sensor: integer({ min: 0, max: 5 }),
    passedMs: integer({ min: 0, max: 10 * minuteMs }),
    speaks: constantFrom(true, false),
  })
  assert(
    property(array(moment, { maxLength: 60 }), (moments) => {
      const graceOf = (slot: number): number => graces[slot % graces.length] ?? graceMs
      const state = createState(0, 1)
      const wheel = createSilenceWheel(state, graceOf)
      const lastHeard = new Map<number, number>()
      let listenedMs = 0
      for (const { sensor, passedMs, speaks } of moments) {
        listenedMs += passedMs
        for (const slot of wheel.due(listenedMs, all)) {
          expect(listenedMs - (lastHeard.get(slot) ?? listenedMs)).toBeGreaterThan(graceOf(slot))
          lastHeard.delete(slot)
          state.status[slot] = offline
        }
        const missed = [...lastHeard].filter(
          ([slot, heardMs]) => listenedMs - heardMs > graceOf(slot) + secondMs,
        )
        expect(missed).toEqual([])
        if (!speaks) continue
        const slot = says(state, sensor, listenedMs)
        wheel.watch(slot)
        lastHeard.set(slot, listenedMs)
      }
    }),
  )
})
