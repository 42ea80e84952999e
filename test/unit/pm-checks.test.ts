import { describe, expect, test } from 'vitest'
import { type Flag, maskOf, namesOf } from '../../core/air/quality.ts'
import { evolve } from '../../core/state/evolve.ts'
import { failsIn, hourMeans } from '../../core/state/hour-sums.ts'
import type { LogMessage, Rise } from '../../core/state/log-message.ts'
import { createState, findSlot, plainState } from '../../core/state/partition-state.ts'
import { sensorLevelOf } from '../../core/state/sensor-level.ts'
import { hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { decodeReadings, encodeReadings } from '../../schemas/log/readings-message.ts'
import { believed, idsOf, judgedMessage, openDesk, partition, startMs } from '../support/decided.ts'
import type { Over } from '../support/readings.ts'

const sensor = idsOf(1)[0]!
type Told = Over<Parameters<typeof believed>[0]>

/** Readings of one sensor one after the other, decided as the pipeline does. */
function played(
  given: readonly (Partial<Told> & { readonly atMs: number })[],
  leafVersion: 1 | 2 = 2,
) {
  const desk = openDesk({ leafVersion })
  const made = given.flatMap(({ atMs, ...more }, i) => {
    const timeMs = startMs + atMs
    return desk.decide([judgedMessage(i + 1, [believed({ sensor, timeMs, ...more })])])
  })
  const flags = made.map(({ readings }): Flag[] => namesOf(readings[0]?.flags ?? 0))
  return { ...desk, made, flags, slot: findSlot(desk.decider.state, sensor) }
}

const every = (count: number, stepMs: number, more: Partial<Told> = {}, fromMs = 0) =>
  Array.from({ length: count }, (_, i) => ({ atMs: fromMs + i * stepMs, ...more }))

const eventsOf = (made: readonly LogMessage[]) =>
  made.flatMap(({ events }, i) =>
    events.flatMap((event) =>
      event.kind === 'quality' ? [[i, event.from, event.to] as const] : [],
    ),
  )

describe('a sensor whose particles do not change', () => {
  test('is flagged from the second hour on, and has failed from the sixth on', () => {
    const { flags, made } = played(every(80, 5 * minuteMs, { pm25: 3_100, pm10: 4_000 }))
    expect(flags.slice(0, 24)).toEqual(Array(24).fill([]))
    expect(flags.slice(24, 72)).toEqual(Array(48).fill(['pm_flat']))
    expect(flags.slice(72)).toEqual(Array(8).fill(['pm_stuck']))
    expect(eventsOf(made)).toEqual([
      [24, 'good', 'suspect'],
      [72, 'suspect', 'fail'],
    ])
  })

  test('needs 24 readings, however long they take, and two hours, however many they are', () => {
    const rare = played(every(30, hourMs, { pm25: 3_100 })).flags
    expect(rare.findIndex((names) => names.length > 0)).toBe(23)
    const often = played(every(800, 10 * secondMs, { pm25: 3_100 })).flags
    expect(often.findIndex((names) => names.length > 0)).toBe(720)
  })

  test('is not flat if one of both values changes, nor after a gap of three hours', () => {
    const moving = every(60, 5 * minuteMs).map((one, i) => ({ ...one, pm25: 900, pm10: 1_000 + i }))
    expect(played(moving).flags.flat()).toEqual([])
    const gap = [
      ...every(24, 5 * minuteMs, { pm25: 900 }),
      ...every(24, 5 * minuteMs, { pm25: 900 }, 6 * hourMs),
    ]
    expect(played(gap).flags.flat()).toEqual([])
  })

  test('a gap begins again whatever ends it, a reading without particles too', () => {
    const before = every(24, 5 * minuteMs, { pm25: 900 })
    const humid = { pm25: null, pm10: null, aqi: null, humidity: 5_000, atMs: 6 * hourMs }
    const after = every(24, 5 * minuteMs, { pm25: 900 }, 6 * hourMs + 5 * minuteMs)
    expect(played([...before, humid, ...after]).flags.flat()).toEqual([])
    // what was measured before it is not what was measured just before
    const high = { pm25: 20_000, aqi: 250, atMs: 6 * hourMs + 5 * minuteMs }
    const low = every(5, 5 * minuteMs, { pm25: 900 })
    expect(played([...low, humid, high]).flags.flat()).toEqual([])
    expect(played([...low, { ...high, atMs: 30 * minuteMs }]).flags.flat()).toEqual(['pm_spike'])
  })

  test('is flat too if it sends both values in turn, and other readings are not judged', () => {
    const turns = every(60, 3 * minuteMs).map((one, i) =>
      i % 3 === 0
        ? { ...one, pm25: 900, pm10: null }
        : i % 3 === 1
          ? { ...one, pm25: null, pm10: 1_200 }
          : { ...one, pm25: null, pm10: null, aqi: null },
    )
    const { flags } = played(turns)
    const flagged = flags.flatMap((names, i) => (names.includes('pm_flat') ? [i] : []))
    expect(flagged.length).toBeGreaterThan(10)
    expect(flagged.filter((i) => i % 3 === 2)).toEqual([])
  })
})

test('no particle at all for an hour is flagged', () => {
  const { flags } = played(every(30, 5 * minuteMs, { pm25: 0, pm10: 0, aqi: 0 }))
  expect(flags.slice(0, 12).flat()).toEqual([])
  expect(flags.slice(12, 24)).toEqual(Array(12).fill(['pm_zero']))
  expect(flags[24]).toEqual(['pm_flat', 'pm_zero'])
})

test('a spike is flagged, and a level that stays is not after three readings', () => {
  const given = [2_000, 2_100, 1_900, 2_000, 9_000, 2_050, 2_020, 30_000, 30_100, 29_900, 30_200]
  const { flags } = played(given.map((pm25, i) => ({ atMs: i * 5 * minuteMs, pm25 })))
  expect(flags.map((names) => names.includes('pm_spike'))).toEqual(
    [0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0].map(Boolean),
  )
  // three times as high, and 50 µg/m³ above
  const near = [2_000, 2_000, 2_000, 7_000]
  expect(played(near.map((pm25, i) => ({ atMs: i * minuteMs, pm25 }))).flags.flat()).toEqual([])
  const high = [10_000, 10_000, 10_000, 30_000]
  expect(played(high.map((pm25, i) => ({ atMs: i * minuteMs, pm25 }))).flags.flat()).toEqual([])
})

describe('a reading that has failed', () => {
  const fail = { flags: maskOf('pm_saturated'), pm25: 99_990, aqi: 500 }
  const risesIn = (made: readonly LogMessage[]): number[] =>
    made.flatMap(({ events }, i) =>
      events.some((event): event is Rise => event.kind === 'rise') ? [i] : [],
    )

  test('raises no alert, and neither arms nor disarms one', () => {
    const calm = { pm25: 1_000, aqi: 50 }
    const high = { pm25: 20_000, aqi: 250 }
    const given = [calm, fail, fail, calm, high, fail, high].map((one, i) => ({
      atMs: i * minuteMs,
      ...one,
    }))
    expect(risesIn(played(given).made)).toEqual([4])
    // under leaf 1 there are no rules: what was decided stays so
    expect(risesIn(played(given, 1).made)).toEqual([1, 5])
  })

  test('is not in the means of its hour, but counted', () => {
    const given = every(12, 5 * minuteMs, { pm25: 1_000 }).map((one, i) =>
      i % 4 === 3 ? { ...one, ...fail } : one,
    )
    const { decider, slot } = played(given)
    expect(hourMeans(decider.state, slot, 'pm25', startMs + hourMs, 2, 12)[1]).toBe(10)
    expect(failsIn(decider.state, slot, startMs + hourMs, 24)).toBe(3)
    const before = played(given, 1)
    expect(failsIn(before.decider.state, before.slot, startMs + hourMs, 24)).toBe(0)
    expect(
      hourMeans(before.decider.state, before.slot, 'pm25', startMs + hourMs, 2, 12)[1],
    ).toBeGreaterThan(200)
  })
})

test('a sensor is good again after twelve readings and an hour that are, and not before', () => {
  const given = [
    ...every(3, 5 * minuteMs),
    { atMs: 15 * minuteMs, flags: maskOf('pm_saturated') },
    ...every(11, 5 * minuteMs, {}, 20 * minuteMs),
    { atMs: 75 * minuteMs, flags: maskOf('pm_high') },
    ...every(30, 5 * minuteMs, {}, 80 * minuteMs),
  ].map((one, i) => ({ pm25: 1_000 + i, ...one }))
  const { made, decider, slot } = played(given)
  expect(eventsOf(made)).toEqual([
    [3, 'good', 'fail'],
    [16, 'fail', 'suspect'],
    [29, 'suspect', 'good'],
  ])
  expect(sensorLevelOf(decider.state, slot)).toBe('good')
  expect(sensorLevelOf(decider.state, -1)).toBe('good')
})

test('back-fill is judged in its order, but says nothing about the sensor now', () => {
  const { made, flags } = played(
    every(30, 5 * minuteMs, { pm25: 900, arrivedMs: startMs + 10 * hourMs }),
  )
  expect(flags.at(-1)).toEqual(['pm_flat'])
  expect(eventsOf(made)).toEqual([])
})

test('the log alone gives the state that the worker reached, in messages of either kind', () => {
  const given = [
    ...every(100, 5 * minuteMs, { pm25: 3_100 }),
    ...every(20, 5 * minuteMs, { pm25: 99_990, flags: maskOf('pm_saturated') }, 9 * hourMs),
  ]
  for (const leafVersion of [1, 2] as const) {
    const { log, decider } = played(given, leafVersion)
    const replayed = createState(partition)
    log.forEach((message, i) => {
      const { worker, rawLast, rawLastTimeMs, nLast, lateTo } = message
      const header = { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo }
      evolve(replayed, decodeReadings(header, encodeReadings(message, 3)), i + 1)
    })
    expect(plainState(replayed)).toEqual(plainState(decider.state))
  }
})

test('a message decided by later rules is refused by a sentence', () => {
  const { log } = played(every(1, 1))
  const [message] = log
  const text = new TextDecoder()
    .decode(encodeReadings(message!, 3))
    .replace('"rules":1', '"rules":2')
  expect(() => decodeReadings(message!, new TextEncoder().encode(text))).toThrow(
    /rules of quality of version 2, and this airproof knows them up to version 1/,
  )
})
