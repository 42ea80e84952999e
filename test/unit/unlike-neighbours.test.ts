import { describe, expect, test } from 'vitest'
import { maskOf, namesOf } from '../../core/air/quality.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { evolve } from '../../core/state/evolve.ts'
import { createState, findSlot, plainState } from '../../core/state/partition-state.ts'
import { checkAt, checksOf } from '../../core/state/state-columns.ts'
import { createTwoHours, dueEnd, keepReading, meanOf } from '../../core/state/two-hours.ts'
import { isUnlike } from '../../core/state/unlike-neighbours.ts'
import { hourMs, minuteMs } from '../../core/time.ts'
import { decideTick } from '../../pipeline/decide/decide.ts'
import { mostVerdicts, neighbourVerdicts } from '../../pipeline/decide/neighbour-verdicts.ts'
import { outdoorPlaces } from '../../pipeline/neighbours/judge-neighbours.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { decodeReadings, encodeReadings } from '../../schemas/log/readings-message.ts'
import { believed, idsOf, judgedMessage, openDesk, partition, startMs } from '../support/decided.ts'
import { openNeighbours, unlikeAt } from '../support/neighbours.ts'

const hundredths = (values: readonly number[]): number[] => values.map((value) => value * 100)

test.each<[string, number, number[], boolean]>([
  ['at 31 above clean air', 31, [0, 0], true],
  ['at 30 above clean air', 30, [0, 0], false],
  ['at a motor park, where half of it is added', 60, [25, 20, 22, 30, 28, 24, 25, 21], false],
  ['in a fire that its neighbours see too', 400, [250, 300, 420, 380, 330], false],
  ['far above all', 400, [25, 20, 22, 30, 28, 24, 25, 21], true],
  ['blocked: far below all', 5, [125, 120, 122, 130, 128], true],
  ['next to one that is broken', 25, [22, 900, 28, 21], false],
  ['next to two that differ', 25, [30, 300], false],
  ['broken, between two that agree', 300, [25, 30], true],
  ['with one neighbour', 300, [25], false],
  ['alone', 300, [], false],
  ['where all differ', 200, [20, 60, 100, 150, 180], false],
])('a sensor %s: %d among %j', (_, own, others, expected) => {
  expect(isUnlike(own * 100, hundredths(others))).toBe(expected)
})

const ids = idsOf(12)
const at = (index: number) => ({ lat: 6.5 + index / 1_000, lon: 3.4 })
const placesOf = (sensors: readonly SensorId[]) =>
  sensors.map((sensor, index) => ({ sensor, ...at(index), sinceMs: -Infinity }))

/** Steps of ten minutes from `startMs` on; index and step → PM2.5 in µg/m³, undefined: silent. */
function folded(steps: number, pm25: (index: number, step: number) => number | undefined) {
  const state = createTwoHours()
  for (let step = 0; step < steps; step++) {
    for (const [index, sensor] of ids.entries()) {
      const value = pm25(index, step)
      const timeMs = startMs + step * 10 * minuteMs
      if (value !== undefined) keepReading(state, believed({ sensor, timeMs, pm25: value * 100 }))
    }
  }
  return state
}

describe('two hours of the log', () => {
  test('are due when a reading is seven minutes after them, and once', () => {
    const state = createTwoHours()
    const read = (minutes: number) => {
      keepReading(state, believed({ sensor: ids[0]!, timeMs: startMs + minutes * minuteMs }))
      const endMs = dueEnd(state)
      return endMs === undefined ? undefined : (endMs - startMs) / minuteMs
    }
    expect([0, 3, 7, 9, 16.9, 17, 26, 100].map(read)).toEqual([
      -10,
      undefined,
      0,
      undefined,
      undefined,
      10,
      undefined,
      90,
    ])
    // one that came late does not turn time back: what it is part of is judged again
    expect([50, 100, 50, -40, 100].map(read)).toEqual([90, undefined, 90, undefined, undefined])
  })

  test('are judged only if all of them was read', () => {
    const fromMs = startMs + minuteMs
    const state = createTwoHours(fromMs)
    const due = (minutes: number) => {
      keepReading(state, believed({ sensor: ids[0]!, timeMs: startMs + minutes * minuteMs }))
      return dueEnd(state)
    }
    expect(due(127)).toBeUndefined()
    expect(due(137)).toBe(startMs + 130 * minuteMs)
  })

  test('have the mean of their steps, however many readings are in each', () => {
    const state = createTwoHours()
    const read = (minutes: number, pm25: number, flags = 0) =>
      keepReading(
        state,
        believed({ sensor: ids[0]!, timeMs: startMs + minutes * minuteMs, pm25, flags }),
      )
    for (let step = 0; step < 6; step++) read(step * 10, 1_000)
    for (let second = 0; second < 60; second++) read(50 + second / 60, 7_000)
    read(55, 99_990, maskOf('pm_saturated'))
    keepReading(state, believed({ sensor: ids[0]!, timeMs: startMs + 58 * minuteMs, pm25: null }))
    const endMs = startMs + 2 * hourMs
    expect(meanOf(state, ids[0]!, endMs, -Infinity)).toBeCloseTo(
      (5 * 1_000 + (1_000 + 60 * 7_000) / 61) / 6,
      9,
    )
    // what is left of them after the first is less than half
    expect(meanOf(state, ids[0]!, endMs + 10 * minuteMs, -Infinity)).toBeUndefined()
    expect(meanOf(state, ids[0]!, endMs, startMs + minuteMs)).toBeUndefined()
    expect(meanOf(state, ids[1]!, endMs, -Infinity)).toBeUndefined()
  })

  test('forget a sensor that is silent, so that memory has a bound', () => {
    const state = folded(40, (index, step) => (index === 3 && step > 5 ? undefined : 20 + index))
    expect(state.sensors.size).toBe(12)
    dueEnd(state)
    expect(state.sensors.size).toBe(11)
  })
})

describe('neighbours', () => {
  const state = folded(14, (index) => (index === 4 ? 200 : 20 + index))
  const endMs = startMs + 2 * hourMs

  test('are the nearest eight, and only those that take part', () => {
    const [unlike, ...others] = unlikeAt(state, placesOf(ids), endMs)
    expect(others).toEqual([])
    expect(unlike?.sensor).toBe(ids[4])
    expect(unlike?.among).toEqual([3, 5, 2, 6, 1, 7, 0, 8].map((index) => ids[index]))
    const without = placesOf(ids).filter((_, index) => index !== 3)
    expect(unlikeAt(state, without.toReversed(), endMs)).toEqual([
      { sensor: ids[4], among: [5, 2, 6, 1, 7, 0, 8, 9].map((index) => ids[index]) },
    ])
  })

  test('are outdoors, where the registry says that they were', () => {
    const site = { area: 'Ikeja', address: '', ...at(0) }
    const sensor = (over: Partial<RegisteredSensor>): RegisteredSensor => ({
      id: ids[0]!,
      cadenceMs: 1,
      sites: [{ ...site, fromMs: 5 }],
      ...over,
    })
    const moved = { ...site, fromMs: 60, lat: 9 }
    expect([
      ...outdoorPlaces(
        [
          sensor({}),
          sensor({ about: { indoor: true } }),
          sensor({ about: { indoor: false }, sites: [{ ...site, fromMs: 5 }, moved] }),
          sensor({
            sites: [
              { ...site, fromMs: 5 },
              { ...moved, fromMs: 101 },
            ],
          }),
        ],
        100,
      ),
    ]).toEqual([
      { sensor: ids[0], ...at(0), sinceMs: -Infinity },
      { sensor: ids[0], lat: 9, lon: 3.4, sinceMs: 60 },
      { sensor: ids[0], ...at(0), sinceMs: -Infinity },
    ])
  })
})

describe('a verdict', () => {
  test('is in the flags of what follows, until the log says otherwise, and after a gap not', () => {
    const desk = openDesk({ leafVersion: 2 })
    const judge = openNeighbours(desk, () => placesOf(ids))
    let rawSeq = 0
    const read = (minutes: number, pm25: (index: number) => number | null) =>
      desk
        .decide(
          ids.map((sensor, index) => {
            const timeMs = startMs + minutes * minuteMs
            const own = pm25(index)
            const over = { sensor, timeMs, pm25: own === null ? null : own * 100 + (minutes % 7) }
            return judgedMessage(++rawSeq, [
              believed(own === null ? { ...over, aqi: null, humidity: 5_000 } : over),
            ])
          }),
        )
        .flatMap(({ readings }) => readings)
        .flatMap(({ sensor, flags }) =>
          namesOf(flags).includes('pm_unlike_neighbours') ? [ids.indexOf(sensor)] : [],
        )
    const flagged: [number, number[]][] = []
    const from = (first: number, last: number, pm25: (index: number) => number | null) => {
      for (let minutes = first; minutes < last; minutes += 10) {
        const found = read(minutes, pm25)
        if (found.length > 0) flagged.push([minutes, found])
        judge()
      }
    }
    const broken = (index: number) => (index === 4 ? 200 : 20 + index)
    from(0, 150, broken)
    // half of the two hours is known after one, and it is judged at the next reading
    expect(flagged.map(([minutes]) => minutes)).toEqual([80, 90, 100, 110, 120, 130, 140])
    expect(flagged.every(([, found]) => found.length === 1 && found[0] === 4)).toBe(true)
    flagged.length = 0
    expect(read(151, () => null)).toEqual([])
    from(160, 300, (index) => 20 + index)
    const last = flagged.at(-1)?.[0] ?? 0
    expect(last).toBeGreaterThan(160)
    expect(last).toBeLessThan(270)
    flagged.length = 0
    from(300, 450, broken)
    expect(flagged.length).toBeGreaterThan(0)
    // three hours of silence: what was said of it is of the past
    expect(read(700, broken)).toEqual([])
    expect(read(701, broken)).toEqual([])

    const replayed = createState(partition)
    for (const [i, message] of desk.log.entries())
      evolve(replayed, decodeReadings(message, encodeReadings(message, 3)), i + 1)
    expect(plainState(replayed)).toEqual(plainState(desk.decider.state))
    expect(desk.log.flatMap(({ neighbours = [] }) => neighbours).length).toBeGreaterThan(2)
  })

  test('is committed only where it differs, some at a time, and of sensors that the log knows', () => {
    const many = idsOf(700)
    const desk = openDesk({ leafVersion: 2 })
    desk.decide(many.map((sensor, i) => judgedMessage(i + 1, [believed({ sensor })])))
    const report = {
      endMs: startMs,
      readingsTo: 9,
      unlike: [...many.slice(0, 650), 'NGR-LOS-IKJ-99999' as SensorId].map((sensor) => ({
        sensor,
        among: many.slice(690),
      })),
    }
    const rounds = (unlike: typeof report): number[] => {
      const counts: number[] = []
      for (;;) {
        const neighbours = neighbourVerdicts(desk.decider.state, unlike)
        if (neighbours.length === 0) return counts
        counts.push(neighbours.length)
        const found = { events: [], held: [], neighbours }
        desk.commit(decideTick(desk.decider, found, { lateTo: 0, listenedMs: 0 }))
      }
    }
    expect(rounds(report)).toEqual([mostVerdicts, mostVerdicts, 50])
    const { decider } = desk
    const slot = findSlot(decider.state, many[649]!)
    expect(decider.state.checks[checksOf(slot) + checkAt.unlike]).toBe(1)
    expect(rounds({ ...report, unlike: report.unlike.slice(5) })).toEqual([5])
    expect(desk.log.at(-1)?.neighbours?.[0]).toEqual({
      sensor: many[0],
      endMs: startMs,
      readingsTo: 9,
      among: [],
    })
  })
})
