import { array, assert, boolean, integer, oneof, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { evolve } from '../../core/state/evolve.ts'
import { startListening, tickListening } from '../../core/state/listening-clock.ts'
import type { LogEvent } from '../../core/state/log-message.ts'
import { createState, plainState } from '../../core/state/partition-state.ts'
import { statusCounts } from '../../core/state/presence.ts'
import { createSilenceWheel } from '../../core/state/silence-wheel.ts'
import { hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { decideTick } from '../../pipeline/decide/decide.ts'
import { findSilences } from '../../pipeline/decide/find-silences.ts'
import { createStormWatch } from '../../pipeline/decide/storm-watch.ts'
import { believed, idsOf, judgedMessage, openDesk, partition, startMs } from '../support/decided.ts'

const graceMs = 15 * minuteMs

/** A worker's ticks in virtual time: one a second, as long as `pass` says. */
function openWorker() {
  let watch = (_slot: number): void => undefined
  const desk = openDesk({ watch: (slot) => watch(slot) })
  const { state } = desk.decider
  const wheel = createSilenceWheel(state, () => graceMs)
  watch = wheel.watch
  const alarms: number[] = []
  const storm = createStormWatch((silent) => alarms.push(silent))
  let clock = startListening(0)
  let elapsedMs = 0
  let rawSeq = 0

  const tick = (isListening: boolean): void => {
    elapsedMs += secondMs
    clock = tickListening(clock, elapsedMs, isListening)
    storm.report(partition, statusCounts(state))
    const { listenedMs } = clock
    const found = findSilences(
      { state, wheel, storm, graceMs: () => graceMs },
      { nowMs: startMs + elapsedMs, listenedMs },
    )
    if (found.events.length + found.held.length === 0) return
    desk.commit(decideTick(desk.decider, found, { lateTo: 0, listenedMs }))
  }
  const nowMs = (): number => startMs + elapsedMs

  return {
    state,
    alarms,
    log: desk.log,
    nowMs,
    pass: (ms: number, { isListening = true } = {}) => {
      for (let left = ms; left > 0; left -= secondMs) tick(isListening)
    },
    /** Fresh readings, or back-fill of `ageMs`. */
    hear: (sensors: readonly SensorId[], ageMs = 0) => {
      const messages = sensors.map((sensor) => {
        const times = { timeMs: nowMs() - ageMs, arrivedMs: nowMs() }
        return judgedMessage(++rawSeq, [believed({ sensor, aqi: 5, pm25: 100, ...times })])
      })
      desk.decide(messages, clock.listenedMs)
    },
    eventsOf: (sensor: SensorId): string[] =>
      desk.log.flatMap(({ events, readings }) =>
        events.filter((event) => sensorOf(event, readings) === sensor).map(({ kind }) => kind),
      ),
    events: (): LogEvent[] => desk.log.flatMap(({ events }) => events),
  }
}

const sensorOf = (event: LogEvent, readings: readonly { sensor: SensorId }[]) =>
  event.kind === 'offline' ? event.sensor : readings[event.place]?.sensor

describe('silence', () => {
  test('gives exactly one offline, and the return exactly one online', () => {
    const worker = openWorker()
    const sensor = idsOf(1)[0]!
    worker.hear([sensor])
    worker.pass(15 * minuteMs)
    expect(worker.eventsOf(sensor)).toEqual(['online'])
    worker.pass(2 * hourMs)
    expect(worker.eventsOf(sensor)).toEqual(['online', 'offline'])
    worker.hear([sensor])
    worker.pass(minuteMs)
    worker.hear([sensor])
    expect(worker.eventsOf(sensor)).toEqual(['online', 'offline', 'online'])
  })

  test('is reported with the time at which the grace ended, not that of the check', () => {
    const worker = openWorker()
    const sensor = idsOf(1)[0]!
    worker.pass(10 * secondMs)
    const heardMs = worker.nowMs()
    worker.hear([sensor])
    worker.pass(hourMs)
    const offline = worker.events().find(({ kind }) => kind === 'offline')
    expect(offline).toMatchObject({ sensor, lastReadingMs: heardMs })
    expect(offline?.kind === 'offline' && offline.offlineSinceMs).toBe(heardMs + graceMs)
  })

  test('never counts the time in which nobody could have heard', () => {
    const worker = openWorker()
    const sensors = idsOf(50)
    worker.pass(2 * secondMs)
    worker.hear(sensors)
    worker.pass(10 * minuteMs)
    worker.pass(24 * hourMs, { isListening: false })
    worker.pass(4 * minuteMs)
    expect(worker.events().filter(({ kind }) => kind === 'offline')).toEqual([])
    expect(statusCounts(worker.state).online).toBe(50)
  })

  test('is not ended by back-fill', () => {
    const worker = openWorker()
    const sensor = idsOf(1)[0]!
    worker.hear([sensor])
    worker.pass(hourMs)
    worker.hear([sensor], 31 * minuteMs)
    expect(worker.eventsOf(sensor)).toEqual(['online', 'offline'])
    worker.hear([sensor], 30 * minuteMs - 1)
    expect(worker.eventsOf(sensor)).toEqual(['online', 'offline', 'online'])
  })
})

describe('a storm', () => {
  test('is one alarm and no event; a sensor that is still silent is reported 15 min later, with true times', () => {
    const worker = openWorker()
    const sensors = idsOf(30)
    const [back, gone] = [sensors.slice(0, 12), sensors.slice(12)]
    worker.pass(2 * secondMs)
    const heardMs = worker.nowMs()
    worker.hear(sensors)
    worker.pass(graceMs + 10 * secondMs)
    expect(worker.alarms).toEqual([30])
    expect(statusCounts(worker.state)).toMatchObject({ held: 30, offline: 0, online: 0 })
    worker.hear(back)
    worker.pass(14 * minuteMs)
    expect(worker.events().filter(({ kind }) => kind === 'offline')).toEqual([])
    for (const sensor of back) {
      expect(worker.eventsOf(sensor)).toEqual(['online'])
      worker.hear([sensor])
    }
    worker.pass(2 * minuteMs)
    for (const sensor of gone) expect(worker.eventsOf(sensor)).toEqual(['online', 'offline'])
    for (const sensor of back) expect(worker.eventsOf(sensor)).toEqual(['online'])
    for (const event of worker.events()) {
      expect(event.kind === 'offline' ? event.offlineSinceMs : heardMs + graceMs).toBe(
        heardMs + graceMs,
      )
    }
    expect(worker.alarms).toEqual([30])
  })

  test('does not begin with nineteen, nor with half of the network', () => {
    const few = openWorker()
    few.hear(idsOf(19))
    few.pass(hourMs)
    expect([few.alarms, statusCounts(few.state).offline]).toEqual([[], 19])

    const half = openWorker()
    const sensors = idsOf(60)
    half.hear(sensors)
    for (let i = 0; i < 12; i++) {
      half.pass(5 * minuteMs)
      half.hear(sensors.slice(0, 30))
    }
    expect([half.alarms, statusCounts(half.state).offline]).toEqual([[], 30])
  })
})

test('a thousand silences fit one message, and the rest come with the next tick', () => {
  const worker = openWorker()
  worker.hear(idsOf(2_500))
  const before = worker.log.length
  worker.pass(2 * graceMs + 10 * secondMs)
  const ticks = worker.log.slice(before)
  const found = ticks.map(({ events, held }) => events.length + held.length)
  // the first thousand are less than half of the network: no storm yet
  expect(found).toEqual([1_000, 1_000, 500, 1_000, 500])
  expect(statusCounts(worker.state)).toMatchObject({ offline: 2_500, held: 0 })
})

test('whatever happens, online and offline alternate, and the log gives the same state', () => {
  const sensors = idsOf(25)
  const step = oneof(
    record({
      passMs: integer({ min: 1, max: 1_300 }).map((s) => s * secondMs),
      isListening: boolean(),
    }),
    record({
      first: integer({ min: 0, max: 24 }),
      count: integer({ min: 1, max: 25 }),
      isOld: boolean(),
    }),
  )
  assert(
    property(array(step, { maxLength: 25 }), (steps) => {
      const worker = openWorker()
      for (const one of steps) {
        if ('passMs' in one) worker.pass(one.passMs, one)
        else worker.hear(sensors.slice(one.first, one.first + one.count), one.isOld ? hourMs : 0)
      }
      for (const sensor of sensors) {
        const kinds = worker.eventsOf(sensor).filter((kind) => kind !== 'rise')
        expect(kinds).toEqual(kinds.map((_, i) => (i % 2 === 0 ? 'online' : 'offline')))
      }
      const replayed = createState(partition)
      worker.log.forEach((message, i) => evolve(replayed, message, i + 1))
      expect(plainState(replayed)).toEqual(plainState(worker.state))
    }),
    { numRuns: 40 },
  )
})
