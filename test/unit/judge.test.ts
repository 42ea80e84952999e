import {
  anything,
  assert,
  constantFrom,
  dictionary,
  double,
  json,
  oneof,
  option,
  property,
  record,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deviceText, signedTextFault, signedValues } from '../../core/air/device-text.ts'
import { droppedMask, namesOf } from '../../core/air/quality.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import { createDayBook } from '../../pipeline/decide/day-books.ts'
import { type Believed, type JudgeOptions, judge } from '../../pipeline/decide/judge.ts'
import { parseSensor, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { valued } from '../support/readings.ts'

const id = 'NGR-LOS-IKJ-017'
const movedMs = Date.UTC(2025, 5, 1)
const sensor = parseSensor(
  {
    id,
    cadence_seconds: 300,
    created_at: '2020-01-01T00:00:00Z',
    sites: [
      { from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: 'GRA' },
      { from: '2025-06-01T00:00:00Z', area: 'Yaba', lat: 6.5, lon: 3.38, address: 'Herbert' },
    ],
  },
  sensorIdRules(),
) as RegisteredSensor

const arrivedMs = Date.UTC(2026, 0, 15, 10, 30, 2)
const timestamp = '2026-01-15T10:30:00Z'
const timeMs = Date.UTC(2026, 0, 15, 10, 30)
const options: JudgeOptions = {
  partition: partitionOf(id),
  sensorOf: (name) => (name === id ? sensor : undefined),
  earliestMs: Date.UTC(2015, 0, 1),
  mayBeLate: () => true,
  level: { current: () => newestLevel },
}
const place = { rawSeq: 7, item: 3, sensor: id, arrivedMs, isAgain: false }
const verdictOn = (item: unknown, of: Partial<typeof place> = {}, with_ = options) =>
  judge(item, { ...place, ...of }, with_)
const believed = (item: unknown, of: Partial<typeof place> = {}): Believed => {
  const verdict = verdictOn(item, of)
  if ('reason' in verdict) throw new Error(`refused: ${verdict.reason} ${verdict.why}`)
  return verdict
}
const reasonOf = (...args: Parameters<typeof verdictOn>): string => {
  const verdict = verdictOn(...args)
  return 'reason' in verdict ? verdict.reason : 'believed'
}

test('an ordinary reading is believed, in hundredths, with its index and its area', () => {
  const item = { sensor_id: id, timestamp, pm25: 45.3, pm10: 78.2, co2: 412, temperature: 28.5 }
  expect(verdictOn({ ...item, humidity: 65.05 })).toEqual(
    valued({
      rawSeq: 7,
      item: 3,
      sensor: id,
      area: 'Yaba',
      timeMs,
      arrivedMs,
      pm25: 4_530,
      pm10: 7_820,
      co2: 41_200,
      temperature: 2_850,
      humidity: 6_505,
      aqi: 125,
      flags: 0,
    }),
  )
})

test('flat or nested, the same values are the same reading; nested wins, null does not', () => {
  const flat = believed({ timestamp, pm25: 12.5, humidity: 60 })
  expect(believed({ timestamp, measurements: { pm25: 12.5, humidity: 60 } })).toEqual(flat)
  expect(
    believed({ timestamp, pm25: 99, humidity: 60, measurements: { pm25: 12.5, humidity: null } }),
  ).toEqual(flat)
})

test('fields of ours in the body mean nothing', () => {
  const plain = believed({ timestamp, pm25: 12.5 })
  const more = { reason: 'scheduled', why: 'x', flags: 99, aqi: 1, seq: 1, area: 'Elsewhere' }
  expect(verdictOn({ timestamp, pm25: 12.5, ...more, rawSeq: 0, item: 0 })).toEqual(plain)
})

test('a reading belongs to the site that was valid when it was measured', () => {
  const areaAt = (text: string): string => believed({ timestamp: text, co2: 400 }).area
  expect(areaAt('2019-12-31T23:59:59Z')).toBe('Ikeja')
  expect(areaAt('2025-05-31T23:59:59.999Z')).toBe('Ikeja')
  expect(areaAt('2025-06-01T00:00:00Z')).toBe('Yaba')
  expect(areaAt('2025-06-01T00:59:59+01:00')).toBe('Ikeja')
  expect(sensor.sites[1]?.fromMs).toBe(movedMs)
})

test('a reading without PM has no index', () => {
  expect(believed({ timestamp, temperature: 28.5, humidity: 65 }).aqi).toBeNull()
})

describe('refused', () => {
  const other = `NGR-LOS-IKJ-${String(18).padStart(3, '0')}`
  test.each<[string, unknown, Partial<typeof place>, string]>([
    ['no object', 5, {}, 'schema'],
    ['a sensor nobody registered', { timestamp, pm25: 1 }, { sensor: other }, 'unknown_sensor'],
    ['a body that names another', { timestamp, pm25: 1, sensor_id: other }, {}, 'sensor_mismatch'],
    ['an empty name in the body', { timestamp, pm25: 1, sensor_id: '' }, {}, 'sensor_mismatch'],
    ['a time without offset', { timestamp: '2026-01-15T10:30:00', pm25: 1 }, {}, 'no_offset'],
    ['no such day', { timestamp: '2025-02-29T10:30:00Z', pm25: 1 }, {}, 'schema'],
    ['no time at all', { timestamp: 'yesterday', pm25: 1 }, {}, 'schema'],
    ['no value', { timestamp }, {}, 'out_of_range'],
    ['only nulls', { timestamp, pm25: null }, {}, 'out_of_range'],
    ['only an impossible value', { timestamp, temperature: -200 }, {}, 'out_of_range'],
    ['PM of 1999.9 alone', { timestamp, pm25: 1_999.9, pm10: 1_999.9 }, {}, 'out_of_range'],
    ['1970', { timestamp: '1970-01-01T00:00:00Z', pm25: 1 }, {}, 'too_old'],
    ['just before 2015', { timestamp: '2014-12-31T23:59:59.999Z', pm25: 1 }, {}, 'too_old'],
    ['five minutes and a millisecond ahead', aheadBy(5 * minuteMs + 1), {}, 'future'],
    ['a day ahead', aheadBy(dayMs), {}, 'future'],
  ])('%s', (_, item, of, reason) => {
    expect(reasonOf(item, of)).toBe(reason)
  })

  test('another partition than the sensor belongs to', () => {
    const elsewhere = { ...options, partition: (partitionOf(id) + 1) % 16 }
    expect(reasonOf({ timestamp, pm25: 1 }, {}, elsewhere)).toBe('wrong_partition')
  })
})

describe('believed to the edge', () => {
  test.each<[string, unknown]>([
    ['the first instant of 2015', { timestamp: '2015-01-01T00:00:00Z', pm25: 1 }],
    ['five minutes ahead', aheadBy(5 * minuteMs)],
    ['PM of 999.9', { timestamp, pm25: 999.9 }],
    ['PM of 1000.004', { timestamp, pm25: 1_000.004 }],
    ['−40 °C', { timestamp, temperature: -40 }],
    ['zeros', { timestamp, pm25: 0, pm10: 0, co2: 0, temperature: 0, humidity: 0 }],
    ['−0.004 µg/m³, which is zero', { timestamp, pm25: -0.004 }],
  ])('%s', (_, item) => {
    expect(reasonOf(item, { isAgain: true })).toBe('believed')
  })
})

/** A body measured so long after it arrived. */
function aheadBy(ms: number) {
  return { timestamp: new Date(arrivedMs + ms).toISOString(), pm25: 1 }
}

test('of several faults the first in the order of the checks is named', () => {
  const elsewhere = { ...options, partition: (partitionOf(id) + 1) % 16 }
  const all = { sensor_id: 'X', timestamp: '1970-01-01T00:00:00', pm25: -5 }
  const stranger = { sensor: 'X' }
  const steps: [unknown, Partial<typeof place>, JudgeOptions, string][] = [
    [{ ...all, timestamp: 5 }, stranger, elsewhere, 'schema'],
    [all, stranger, elsewhere, 'unknown_sensor'],
    [all, {}, elsewhere, 'sensor_mismatch'],
    [{ ...all, sensor_id: id }, {}, elsewhere, 'wrong_partition'],
    [{ ...all, sensor_id: id }, {}, options, 'no_offset'],
    [{ ...all, sensor_id: id, timestamp: '1970-01-01T00:00:00Z' }, {}, options, 'out_of_range'],
    [{ sensor_id: id, timestamp: '1970-01-01T00:00:00Z', pm25: 5 }, {}, options, 'too_old'],
  ]
  for (const [item, of, with_, reason] of steps) expect(reasonOf(item, of, with_)).toBe(reason)
})

test('one dead thermometer never costs the PM', () => {
  const reading = believed({ timestamp, pm25: 18.5, temperature: -200 })
  expect(reading).toMatchObject({ values: valuesOf({ pm25: 1_850 }), aqi: 69 })
  expect(namesOf(reading.flags)).toEqual(['dropped_temperature'])
})

test('what is accepted of a signed reading is what its device signed', () => {
  const numbers = ['1e400', '-1e999', '1e12', '-0', '0.005', '400', '1000.005', '50', '100']
  const written = dictionary(constantFrom(...quantityNames), constantFrom(...numbers))
  let dropped = 0
  assert(
    property(written, (texts) => {
      const fields = Object.entries(texts).map(([name, text]) => `,"${name}":${text}`)
      const item = JSON.parse(`{"timestamp":"${timestamp}"${fields.join('')}}`)
      const verdict = verdictOn(item)
      if ('reason' in verdict) return true
      dropped += namesOf(verdict.flags & droppedMask).length
      const signed = signedValues(item, texts)
      if (typeof signed === 'string') throw new Error(signed)
      return signedTextFault(deviceText(id, timeMs, signed), verdict) === undefined
    }),
  )
  expect(dropped).toBeGreaterThan(0)
})

test.each(['1e400', '-1e999'])('%s is out of range, and dropped like any such value', (number) => {
  const reading = believed(JSON.parse(`{"timestamp":"${timestamp}","pm25":18.5,"pm1":${number}}`))
  expect(reading.values).toEqual(valuesOf({ pm25: 1_850 }))
  expect(namesOf(reading.flags)).toEqual(['dropped_pm1'])
})

test('a gateway that stamped the time says so', () => {
  const flagged = believed({ timestamp, pm25: 18.5, time_assigned: true })
  expect(namesOf(flagged.flags)).toEqual(['time_assigned'])
  expect(believed({ timestamp, pm25: 18.5, time_assigned: false }).flags).toBe(0)
})

const isWhole = (kept: number | null): boolean =>
  kept === null || (Number.isSafeInteger(kept) && !Object.is(kept, -0))

test('whatever the item is, the verdict is a reading or a named reason, and never an exception', () => {
  const value = option(double(), { nil: null })
  const values = record(Object.fromEntries(quantityNames.map((name) => [name, value])), {
    requiredKeys: [],
  })
  const readings = record(
    { timestamp: oneof(json(), option(json())), measurements: values, sensor_id: json() },
    { requiredKeys: [] },
  )
  const plausible = values.map((measured) => ({ timestamp, ...measured }))
  let believedCount = 0
  for (const items of [anything(), readings, plausible]) {
    assert(
      property(items, (item) => {
        const verdict = verdictOn(item)
        if ('reason' in verdict) return verdict.why.length <= 200
        believedCount++
        return verdict.timeMs === timeMs && verdict.values.every(isWhole)
      }),
    )
  }
  expect(believedCount).toBeGreaterThan(0)
})

test('what cannot be judged is refused by name, and does not end the judging of the rest', () => {
  const broken: JudgeOptions = {
    ...options,
    sensorOf: () => {
      throw new RangeError('a fault of ours')
    },
  }
  expect(verdictOn({ timestamp, pm25: 1 }, {}, broken)).toEqual({
    reason: 'not_judged',
    why: 'RangeError: a fault of ours',
  })
})

describe('of the past a sensor has not more to say than it can know', () => {
  const before = { timestamp: '2019-12-30T00:00:00Z', pm25: 1 }

  test('nothing from before it was there, but for the day in which it was set up', () => {
    expect(reasonOf(before)).toBe('before_site')
    expect(reasonOf({ ...before, timestamp: '2019-12-31T00:00:00Z' })).toBe('believed')
    expect(reasonOf(before, { isAgain: true })).toBe('believed')
  })

  test('late readings up to a number per day, each day again, each sensor for itself', () => {
    const mayBeLate = createDayBook(3)
    const late = { timestamp: '2026-01-15T10:00:01Z', pm25: 1 }
    const reported = (of: Partial<typeof place> = {}, item: object = late): string =>
      reasonOf(item, of, { ...options, mayBeLate })
    expect([reported(), reported(), reported(), reported()]).toEqual([
      'believed',
      'believed',
      'believed',
      'too_many_late',
    ])
    expect(reported({}, { timestamp, pm25: 1 })).toBe('believed')
    expect(reported({ isAgain: true })).toBe('believed')
    expect(reported({ arrivedMs: arrivedMs + dayMs })).toBe('believed')
    expect(mayBeLate('NGR-LOS-IKJ-018', arrivedMs)).toBe(true)
  })
})
