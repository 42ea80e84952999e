import { assert, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeMessage, evolve } from '../../core/state/evolve.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { createState, type PartitionState, plainState } from '../../core/state/partition-state.ts'
import { minuteMs } from '../../core/time.ts'
import { decodeReadings, encodeReadings } from '../../schemas/log/readings-message.ts'
import { decodeSnapshot, encodeSnapshot } from '../../schemas/log/snapshot.ts'
import { histories, lived } from '../support/random-history.ts'
import { readingOf, sensorNamed, smallWorker } from '../support/small-worker.ts'

const positions = { store: 1, events: 2, rejected: 3 }

/** The messages of a log folded into `state`, as READINGS carries them. */
function folded(state: PartitionState, log: readonly LogMessage[], from = 0): PartitionState {
  log.slice(from).forEach((message, i) => {
    evolve(state, decodeReadings(message, encodeReadings(message, 2)), from + i + 1)
  })
  return state
}

test('folding the log gives the state of the worker that wrote it', () => {
  assert(
    property(histories, (history) => {
      const { state, log } = lived(history)
      expect(plainState(folded(createState(3), log))).toEqual(plainState(state))
    }),
  )
})

test('a snapshot taken anywhere and the log after it give the state of an uninterrupted fold', () => {
  assert(
    property(histories, (history) => {
      const { state, log } = lived(history)
      const cut = history.length >>> 1
      const half = folded(createState(3), log.slice(0, cut))
      const restored = decodeSnapshot(encodeSnapshot(half, positions, [], 2))?.state
      expect(restored && plainState(folded(restored, log, cut))).toEqual(plainState(state))
    }),
  )
})

test('a message folded twice counts once', () => {
  assert(
    property(histories, (history) => {
      const { state, log } = lived(history)
      const again = folded(folded(createState(3), log), log)
      expect(plainState(again)).toEqual(plainState(state))
    }),
  )
})

test('every sensor comes online and goes offline in turn, online first', () => {
  assert(
    property(histories, (history) => {
      const turns = new Map<string, string[]>()
      for (const { readings, events } of lived(history).log) {
        for (const event of events) {
          if (event.kind === 'rise' || event.kind === 'quality') continue
          const sensor = event.kind === 'online' ? readings[event.place]?.sensor : event.sensor
          turns.set(`${sensor}`, [...(turns.get(`${sensor}`) ?? []), event.kind])
        }
      }
      for (const kinds of turns.values()) {
        expect(kinds).toEqual(kinds.map((_, i) => (i % 2 === 0 ? 'online' : 'offline')))
      }
    }),
  )
})

test('a message sets every counter of the state', () => {
  const state = createState(0)
  const header = { rawLast: 5, rawLastTimeMs: 6, nLast: 7, lateTo: 8, listenedMs: 9 }
  closeMessage(state, { ...header, events: [], held: [] }, 10)
  expect(plainState(state)).toMatchObject({
    rawLast: 5,
    rawLastTimeMs: 6,
    n: 7,
    lateTo: 8,
    listenedMs: 9,
    readingsSeq: 10,
  })
})

describe('a sensor that falls silent', () => {
  const at = Date.UTC(2026, 2, 1, 10)

  test('is reported once, with the time when its grace ended, and once more when it is back', () => {
    const worker = smallWorker(0)
    worker.take([readingOf(at)], 0)
    worker.tick(15 * minuteMs, at + 15 * minuteMs, 'report')
    worker.tick(15 * minuteMs + 1_000, at + 15 * minuteMs + 1_000, 'report')
    worker.tick(60 * minuteMs, at + 60 * minuteMs, 'report')
    worker.take([readingOf(at + 61 * minuteMs)], 61 * minuteMs)
    expect(worker.log.map(({ events }) => events.filter(({ kind }) => kind !== 'rise'))).toEqual([
      [{ kind: 'online', place: 0, offlineSinceMs: null }],
      [],
      [
        {
          kind: 'offline',
          sensor: sensorNamed(1),
          lastReadingMs: at,
          offlineSinceMs: at + 15 * minuteMs,
          silenceMs: 15 * minuteMs + 1_000,
        },
      ],
      [],
      [{ kind: 'online', place: 0, offlineSinceMs: at + 15 * minuteMs }],
    ])
  })

  test('and is held by a storm is reported after 15 min of listening, with its true time', () => {
    const worker = smallWorker(0)
    worker.take([readingOf(at)], 0)
    worker.tick(16 * minuteMs, at + 16 * minuteMs, 'hold')
    worker.tick(31 * minuteMs - 1, at + 31 * minuteMs - 1, 'report')
    worker.tick(31 * minuteMs, at + 31 * minuteMs, 'report')
    expect(worker.log.map(({ events, held }) => [events.length, held.length])).toEqual([
      [2, 0],
      [0, 1],
      [0, 0],
      [1, 0],
    ])
    expect(worker.log.at(-1)?.events[0]).toMatchObject({
      offlineSinceMs: at + 15 * minuteMs,
      silenceMs: 31 * minuteMs,
    })
  })

  test('and returns while a storm holds it is never reported', () => {
    const worker = smallWorker(0)
    worker.take([readingOf(at)], 0)
    worker.tick(16 * minuteMs, at + 16 * minuteMs, 'hold')
    worker.take([readingOf(at + 20 * minuteMs)], 20 * minuteMs)
    worker.tick(34 * minuteMs, at + 34 * minuteMs, 'report')
    expect(worker.log.slice(1).flatMap(({ events }) => events)).toEqual([])
  })

  test('is not brought back by its back-fill', () => {
    const worker = smallWorker(0)
    worker.take([readingOf(at)], 0)
    worker.tick(60 * minuteMs, at + 60 * minuteMs, 'report')
    worker.take([readingOf(at + 5 * minuteMs, { arrivedMs: at + 61 * minuteMs })], 61 * minuteMs)
    expect(worker.log.at(-1)?.readings).toHaveLength(1)
    expect(worker.log.at(-1)?.events).toEqual([])
  })
})
