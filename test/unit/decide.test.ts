import { array, assert, boolean, constantFrom, integer, oneof, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maskOf, namesOf } from '../../core/air/quality.ts'
import type { Reading } from '../../core/air/reading.ts'
import { evolve } from '../../core/state/evolve.ts'
import type { Deferred } from '../../core/state/log-message.ts'
import { createState, plainState } from '../../core/state/partition-state.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { decideLate, fitTogether, judgeLate } from '../../pipeline/decide/decide.ts'
import type { Believed, JudgedMessage } from '../../pipeline/decide/judge.ts'
import { thresholdOf, thresholdsInUse, thresholdsOf } from '../../pipeline/decide/thresholds.ts'
import {
  believed,
  encodedBytes,
  idsOf,
  judgedMessage,
  numbersIn,
  openDesk,
  partition,
  startMs,
} from '../support/decided.ts'

const fiveHundredTwelveKb = 512_000

type Sent = { sensor: number; minute: number; pm25: number; isFault: boolean; lateNow: boolean }
const sent = record<Sent>({
  sensor: integer({ min: 0, max: 3 }),
  minute: integer({ min: 0, max: 12 }),
  pm25: constantFrom(1_000, 2_000, 9_000),
  isFault: integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  lateNow: boolean(),
})
const streams = array(array(sent, { minLength: 1, maxLength: 8 }), { maxLength: 40 })
const ids = idsOf(4)

const keyOf = ({ sensor, timeMs }: Pick<Reading, 'sensor' | 'timeMs'>): string =>
  `${sensor} ${timeMs}`

/** Plays a stream through the fast lane and, at times, the late one; ends with nothing deferred. */
function play(stream: readonly (readonly Sent[])[]) {
  const desk = openDesk()
  const stored = new Map<string, Reading>()
  let deferred: Deferred[] = []
  const keep = (readings: readonly Reading[]): void => {
    for (const reading of readings) stored.set(keyOf(reading), reading)
  }
  const judgeDeferred = (): void => {
    const known = deferred.map((one) => stored.get(keyOf(one)))
    const counters = { lateTo: desk.log.length, listenedMs: 0 }
    keep(desk.commit(decideLate(desk.decider, judgeLate(deferred, known), counters)).readings)
    deferred = []
  }
  stream.forEach((items, i) => {
    const message = judgedMessage(
      i + 1,
      items.map(({ sensor, minute, pm25, isFault }): JudgedMessage['items'][number] =>
        isFault
          ? { reason: 'schema', why: '' }
          : believed({ sensor: ids[sensor]!, timeMs: startMs + minute * minuteMs, pm25 }),
      ),
    )
    for (const made of desk.decide([message])) {
      keep(made.readings)
      deferred.push(...made.deferred)
    }
    if (items.some(({ lateNow }) => lateNow) && deferred.length > 0) judgeDeferred()
  })
  if (deferred.length > 0) judgeDeferred()
  return desk
}

test('a sensor and a time are accepted once, whatever is repeated, late or contradicted', () => {
  assert(
    property(streams, (stream) => {
      const { log } = play(stream)
      const accepted = log.flatMap(({ readings }) => readings)
      const valueOf = new Map(accepted.map((reading) => [keyOf(reading), reading.values[0]]))
      expect(valueOf.size).toBe(accepted.length)

      const all = stream.flat().filter(({ isFault }) => !isFault)
      const keys = all.map(({ sensor, minute }) => `${ids[sensor]} ${startMs + minute * minuteMs}`)
      expect(new Set(keys)).toEqual(new Set(valueOf.keys()))
      const repeats = all.filter(({ pm25 }, i) => valueOf.get(keys[i]!) === pm25)
      const refused = log.flatMap((message) => message.refused)
      const count = (reason: string): number =>
        refused.filter((one) => one.reason === reason).length
      const duplicates = log.flatMap((message) => message.duplicates.map(([, times]) => times))
      expect({
        duplicate: duplicates.reduce((sum, times) => sum + times, 0),
        conflict: count('conflict'),
        schema: count('schema'),
      }).toEqual({
        duplicate: repeats.length - accepted.length,
        conflict: all.length - repeats.length,
        schema: stream.flat().length - all.length,
      })
    }),
  )
})

test('accepted readings are numbered from 1 without a gap, and every message says how far', () => {
  assert(
    property(streams, (stream) => {
      const { log } = play(stream)
      const numbers = numbersIn(log)
      expect(numbers).toEqual(numbers.map((_, i) => i + 1))
      let n = 0
      for (const { readings, nLast } of log) expect(nLast).toBe((n += readings.length))
    }),
  )
})

test('the log alone gives the state that the worker reached', () => {
  assert(
    property(streams, (stream) => {
      const { log, decider } = play(stream)
      const replayed = createState(partition)
      log.forEach((message, i) => evolve(replayed, message, i + 1))
      expect(plainState(replayed)).toEqual(plainState(decider.state))
    }),
  )
})

test('a refused item keeps its place, its sensor and what was wrong', () => {
  const { decide } = openDesk()
  const [sensor] = idsOf(1)
  const fault = { reason: 'no_offset', why: 'x' } as const
  const [message] = decide([judgedMessage(9, [believed({ sensor: sensor! }), fault])])
  expect(message?.refused).toEqual([{ rawSeq: 9, item: 1, sensor, ...fault }])
  expect(message?.readings).toHaveLength(1)
})

test('a reading that lost a value is accepted and kept as partial too, in both lanes', () => {
  const { decider, decide } = openDesk()
  const sensor = idsOf(1)[0]!
  const flags = maskOf('dropped_temperature')
  const one = believed({ sensor, flags })
  const partial = { item: 0, reason: 'partial', sensor, why: '' }
  expect(decide([judgedMessage(1, [one])])[0]?.refused).toEqual([{ ...partial, rawSeq: 1 }])
  const late = { ...one, timeMs: startMs - minuteMs, rawSeq: 2 }
  expect(decide([judgedMessage(2, [late])])[0]).toMatchObject({ readings: [], refused: [] })
  const verdicts = judgeLate([late], [undefined])
  const { refused, readings } = decideLate(decider, verdicts, { lateTo: 2, listenedMs: 0 })
  expect([refused, readings.length]).toEqual([[{ ...partial, rawSeq: 2 }], 1])
})

test('the 24th equal humidity in a row is flagged, and another value ends it', () => {
  const { decide } = openDesk()
  const sensor = idsOf(1)[0]!
  const humidities = [...Array<number>(30).fill(9_990), 9_980]
  const messages = humidities.map((humidity, i) =>
    judgedMessage(i + 1, [believed({ sensor, timeMs: startMs + i * minuteMs, humidity })]),
  )
  const readings = decide(messages).flatMap((message) => message.readings)
  const stuck = readings.map(({ flags }) => namesOf(flags).includes('humidity_stuck'))
  expect(stuck.indexOf(true)).toBe(23)
  expect(stuck.filter(Boolean)).toHaveLength(7)
})

describe('a message never passes 2,000 readings or 512 KB', () => {
  const texts = {
    plain: 'Ikeja',
    long: 'x'.repeat(80),
    yoruba: 'Ìkẹjà'.repeat(16),
    controls: '\u0001'.repeat(80),
    quotes: '"\\'.repeat(40),
    halves: '\ud800'.repeat(80),
  }
  const flood = (count: number, itemsEach: number, area: string): JudgedMessage[] => {
    const known = idsOf(count, 52)
    return known.map((sensor, i) =>
      judgedMessage(
        i + 1,
        Array.from({ length: itemsEach }, (_, k) =>
          believed({
            sensor,
            area,
            timeMs: startMs + k * secondMs,
            pm25: 100_000,
            pm10: 100_000,
            co2: 4_000_000,
            temperature: -4_000,
            humidity: 10_000,
            aqi: 500,
            flags: 4_095,
          }),
        ),
      ),
    )
  }

  test.each(Object.entries(texts))('thousands heard at once, each rising: %s areas', (_, area) => {
    const { decide, log } = openDesk()
    const messages = flood(4_500, 1, area)
    decide(messages)
    for (const message of log) {
      expect(message.readings.length).toBeLessThanOrEqual(2_000)
      expect(encodedBytes(message)).toBeLessThanOrEqual(fiveHundredTwelveKb)
    }
    expect(numbersIn(log)).toHaveLength(messages.length)
    expect(log.flatMap(({ events }) => events)).toHaveLength(2 * messages.length)
  })

  test.each(Object.entries(texts))('arrays of 500, then late: %s areas', (_, area) => {
    const { decide, log, decider } = openDesk()
    const messages = flood(9, 500, area)
    decide(messages)
    const again = decide(messages.map((one) => ({ ...one, seq: one.seq + 100 })))
    const deferred = again.map((message) => message.deferred)
    for (const message of log)
      expect(encodedBytes(message)).toBeLessThanOrEqual(fiveHundredTwelveKb)
    let gathered: Deferred[] = []
    const commitLate = (): void => {
      const verdicts = judgeLate(gathered, [])
      const message = decideLate(decider, verdicts, { lateTo: 1, listenedMs: 0 })
      expect(message.readings.length).toBeLessThanOrEqual(2_000)
      expect(encodedBytes(message)).toBeLessThanOrEqual(fiveHundredTwelveKb)
      gathered = []
    }
    for (const more of deferred) {
      if (!fitTogether(gathered, more)) commitLate()
      gathered.push(...more)
    }
    commitLate()
  })

  test.each(Object.entries(texts))('strangers by the thousand: %s names and reasons', (_, text) => {
    const { decide, log } = openDesk()
    const why = text.repeat(3).slice(0, 200)
    const sensor = text.repeat(4)
    const messages = Array.from({ length: 6_000 }, (_unused, i) => ({
      ...judgedMessage(i + 1, [{ reason: 'unknown_sensor', why } as const]),
      sensor,
    }))
    decide(messages)
    for (const message of log)
      expect(encodedBytes(message)).toBeLessThanOrEqual(fiveHundredTwelveKb)
    expect(log.flatMap(({ refused }) => refused)).toHaveLength(messages.length)
  })

  test('a mixed flood', () => {
    const strangers = integer({ min: 1, max: 500 }).map((count): JudgedMessage => {
      const fault = {
        reason: 'sensor_mismatch',
        why: `the body names ${'\u0007'.repeat(64)}`,
      } as const
      return judgedMessage(1, Array<typeof fault>(count).fill(fault))
    })
    const arrays = record({
      sensor: constantFrom(...idsOf(50, 52)),
      area: constantFrom(...Object.values(texts)),
      count: integer({ min: 1, max: 500 }),
    }).map(({ sensor, area, count }) => {
      const one = believed({ sensor, area, flags: maskOf('dropped_co2') })
      return judgedMessage(1, Array<Believed>(count).fill(one))
    })
    assert(
      property(array(oneof(strangers, arrays), { maxLength: 60 }), (messages) => {
        const { decide, log } = openDesk()
        decide(messages)
        for (const message of log) {
          expect(encodedBytes(message)).toBeLessThanOrEqual(fiveHundredTwelveKb)
        }
      }),
      { numRuns: 20 },
    )
  })
})

test('a message ends where a raw message ends, and says which one', () => {
  const { decide } = openDesk()
  const known = idsOf(7)
  const messages = known.map((sensor, i) =>
    judgedMessage(
      i + 11,
      Array.from({ length: 500 }, (_, k) => believed({ sensor, timeMs: startMs + k * secondMs })),
    ),
  )
  const log = decide(messages)
  expect(log.map(({ rawLast, readings }) => [rawLast, readings.length])).toEqual([
    [14, 2_000],
    [17, 1_500],
  ])
  expect(log.map(({ rawLastTimeMs }) => rawLastTimeMs)).toEqual([startMs, startMs])
})

test('of one reading the return comes before the rise, and events are in the order of readings', () => {
  const { decide } = openDesk()
  const messages = idsOf(3).map((sensor, i) =>
    judgedMessage(i + 1, [believed({ sensor, aqi: 320 })]),
  )
  const [message] = decide(messages)
  expect(
    message?.events.map(({ kind, ...event }) => [kind, 'place' in event && event.place]),
  ).toEqual(
    [0, 1, 2].flatMap((place) => [
      ['online', place],
      ['rise', place],
    ]),
  )
})

/** One threshold by itself: fires above it, once, until two readings in a row are 10 below. */
function firings(threshold: number, aqis: readonly number[]): boolean[] {
  let hasFired = false
  return aqis.map((aqi, i) => {
    const previous = aqis[i - 1] ?? aqi
    if (i > 0 && aqi <= threshold - 10 && previous <= threshold - 10) hasFired = false
    const fires = aqi > threshold && !hasFired
    hasFired ||= fires
    return fires
  })
}

test('a rise is reported where a threshold in use was crossed, and only there', () => {
  const aqis = array(integer({ min: 0, max: 500 }), { maxLength: 60 })
  const webhooks = array(integer({ min: 0, max: 500 }), { maxLength: 4 })
  assert(
    property(aqis, webhooks, (values, thresholds) => {
      const { decide } = openDesk({ thresholds })
      const sensor = idsOf(1)[0]!
      const log = decide(
        values.map((aqi, i) =>
          judgedMessage(i + 1, [believed({ sensor, aqi, timeMs: startMs + i * minuteMs })]),
        ),
      )
      const rises = log.flatMap(({ events }) => events.filter(({ kind }) => kind === 'rise'))
      const reported = new Set(rises.map((event) => ('place' in event ? event.place : -1)))
      const inUse = thresholdsInUse(thresholds)
      const fired = inUse.map((threshold) => firings(threshold, values))
      values.forEach((_, place) => {
        expect(reported.has(place)).toBe(fired.some((one) => one[place]))
      })
    }),
  )
})

test('back-fill and readings without PM neither rise nor bring a sensor back', () => {
  const { decide } = openDesk()
  const sensor = idsOf(1)[0]!
  const arrivedMs = startMs + 31 * minuteMs
  const old = believed({ sensor, aqi: 400, arrivedMs })
  const dry = believed({ sensor, aqi: null, pm25: null, co2: 40_000, timeMs: arrivedMs, arrivedMs })
  const [message] = decide([judgedMessage(1, [old]), judgedMessage(2, [dry])])
  expect(message?.events).toEqual([{ kind: 'online', place: 1, offlineSinceMs: null }])
})

describe('the threshold of a webhook', () => {
  test.each<[unknown, number | undefined]>([
    [{ filters: { aqi_threshold: 150 } }, 150],
    [{ filters: { aqi_threshold: 149.9 } }, 149],
    [{ filters: { aqi_threshold: 0 } }, 0],
    [{ filters: { aqi_threshold: 500 } }, 500],
    [{ filters: { aqi_threshold: 501 } }, undefined],
    [{ filters: { aqi_threshold: -1 } }, undefined],
    [{ filters: { aqi_threshold: '150' } }, undefined],
    [{ filters: { aqi_threshold: null } }, undefined],
    [{ filters: {} }, undefined],
    [{ filters: null }, undefined],
    [{}, undefined],
    [null, undefined],
    ['x', undefined],
  ])('%j: %j', (webhook, threshold) => {
    expect(thresholdOf(webhook)).toBe(threshold)
  })

  test('joins those always in use, each once, in order', () => {
    expect(thresholdsInUse([500, 100, 150, 100])).toEqual([100, 150, 300, 500])
    expect(thresholdsInUse([])).toEqual([150, 300])
  })

  test('is read again once for 10,000 webhooks that change at once', () => {
    const webhooks = new Map<string, number>()
    const listeners: ((change: { key: string; value: number }) => void)[] = []
    let reads = 0
    const thresholds = thresholdsOf({
      entries: () => (reads++, webhooks.entries()),
      onChange: (listener) => {
        listeners.push(listener)
        return () => undefined
      },
    })
    expect(thresholds()).toEqual([150, 300])
    for (let i = 0; i < 10_000; i++) {
      const [key, value] = [`wh_${i}`, i % 3]
      webhooks.set(key, value)
      for (const listener of listeners) listener({ key, value })
    }
    expect(thresholds()).toEqual([0, 1, 2, 150, 300])
    expect(thresholds()).toEqual([0, 1, 2, 150, 300])
    expect(reads).toBe(2)
  })
})
