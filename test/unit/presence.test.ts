import { describe, expect, test } from 'vitest'
import { applyNewer, createOutcome } from '../../core/state/apply-reading.ts'
import { closeMessage } from '../../core/state/evolve.ts'
import { createState, type PartitionState, slotOf } from '../../core/state/partition-state.ts'
import {
  dueHeld,
  graceMsOf,
  offlineSinceMsOf,
  statusCounts,
  statusOf,
  wentOffline,
} from '../../core/state/presence.ts'
import { minuteMs } from '../../core/time.ts'
import { readingOf, sensorNamed } from '../support/small-worker.ts'

const at = Date.UTC(2026, 2, 1, 10)

/** Sensors 0…3 are heard at listening time 0; a fifth is known and unheard. */
function five(): PartitionState {
  const state = createState(0)
  for (let number = 0; number < 4; number++) {
    const sensor = sensorNamed(number)
    applyNewer(state, slotOf(state, sensor), readingOf(at, { sensor }), number, createOutcome())
  }
  slotOf(state, sensorNamed(4))
  return state
}

function holds(state: PartitionState, numbers: readonly number[], listenedMs: number): void {
  const { rawLast, rawLastTimeMs, n: nLast, lateTo } = state
  const held = numbers.map(sensorNamed)
  const header = { rawLast, rawLastTimeMs, nLast, lateTo, listenedMs, events: [], held }
  closeMessage(state, header, state.readingsSeq + 1)
}

test('sensors are counted by status', () => {
  const state = five()
  holds(state, [1], minuteMs)
  expect(statusCounts(state)).toEqual({ unheard: 1, online: 3, held: 1, offline: 0 })
  expect(statusOf(state, 1)).toBe('held')
  expect(statusOf(state, 99)).toBe('unheard')
})

test('three measurements may be missed', () => {
  expect(graceMsOf(5 * minuteMs)).toBe(15 * minuteMs)
})

describe('going offline', () => {
  test('is dated to the end of the grace, not to when it was noticed', () => {
    expect(wentOffline(five(), 2, at + 17 * minuteMs, 17 * minuteMs, 15 * minuteMs)).toEqual({
      kind: 'offline',
      sensor: sensorNamed(2),
      lastReadingMs: at,
      offlineSinceMs: at + 15 * minuteMs,
      silenceMs: 17 * minuteMs,
    })
  })

  test('is impossible for a sensor that was never heard', () => {
    expect(wentOffline(five(), 4, at, minuteMs, 0)).toBeUndefined()
    expect(wentOffline(five(), 9, at, minuteMs, 0)).toBeUndefined()
  })

  test('keeps its time until the sensor is back', () => {
    const state = five()
    const event = wentOffline(state, 2, at + 17 * minuteMs, 17 * minuteMs, 15 * minuteMs)
    const { rawLast, rawLastTimeMs, n: nLast, lateTo } = state
    const events = event ? [event] : []
    const header = { rawLast, rawLastTimeMs, nLast, lateTo, listenedMs: 1, events, held: [] }
    closeMessage(state, header, 1)
    expect(offlineSinceMsOf(state, 2)).toBe(at + 15 * minuteMs)
    expect(offlineSinceMsOf(state, 1)).toBeNull()
    applyNewer(state, 2, readingOf(at + 1, { sensor: sensorNamed(2) }), 9, createOutcome())
    expect(offlineSinceMsOf(state, 2)).toBeNull()
  })
})

test('what a storm holds is due after 15 minutes of listening, no more at once than the limit', () => {
  const state = five()
  holds(state, [0, 1, 3], minuteMs)
  expect(dueHeld(state, 16 * minuteMs - 1, 10)).toEqual([])
  expect(dueHeld(state, 16 * minuteMs, 10)).toEqual([0, 1, 3])
  expect(dueHeld(state, 16 * minuteMs, 2)).toEqual([0, 1])
})
