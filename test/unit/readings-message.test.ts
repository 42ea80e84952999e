import { Ajv } from 'ajv'
import { array, assert, constantFrom, integer, option, property, record, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapQuantities, quantityNames } from '../../core/air/quantities.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { type LogMessage, refusalReasons } from '../../core/state/log-message.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import {
  decodeReadings,
  encodeReadings,
  readingsMessageSchema,
} from '../../schemas/log/readings-message.ts'
import fixture from '../fixtures/formats-0.1.json' with { type: 'json' }

const whole = integer({ min: 0, max: 2 ** 31 - 1 })
const timeMs = integer({ min: 0, max: Date.UTC(2100, 0, 1) })
const sensor = integer({ min: 0, max: 999 }).map((n) => `NGR-LOS-IKJ-${1_000 + n}` as SensorId)
const value = option(integer({ min: -4_000, max: 4_000_000 }))
const text = string({ unit: 'binary', maxLength: 40 })
const row = {
  sensor,
  area: text.filter((area) => area.isWellFormed()),
  timeMs,
  arrivedMs: timeMs,
  values: record(mapQuantities(() => value)).map(valuesOf),
  aqi: option(integer({ min: 0, max: 500 })),
  flags: integer({ min: 0, max: 4_095 }),
}
const place = { rawSeq: whole, item: integer({ min: 0, max: 499 }) }
const messages = integer({ min: 0, max: 15 }).chain((partition) =>
  record<LogMessage>({
    partition: integer({ min: partition, max: partition }),
    worker: text,
    rawLast: whole,
    rawLastTimeMs: timeMs,
    nLast: whole,
    lateTo: whole,
    listenedMs: whole,
    readings: array(record({ ...row, seq: whole.map((n) => seqOf(partition, n)) })),
    events: array(
      constantFrom(
        { kind: 'rise', place: 3, from: 10, to: 200, previousAqi: null } as const,
        { kind: 'online', place: 0, offlineSinceMs: null } as const,
        {
          kind: 'offline',
          sensor: 'NGR-LOS-IKJ-017' as SensorId,
          lastReadingMs: 1,
          offlineSinceMs: 2,
          silenceMs: 3,
        } as const,
      ),
    ),
    held: array(sensor),
    deferred: array(record({ ...row, ...place })),
    refused: array(
      record({
        ...place,
        reason: constantFrom(...refusalReasons, 'partial' as const),
        sensor: text.filter((name) => name.isWellFormed()),
        why: text.filter((why) => why.isWellFormed()),
      }),
    ),
    duplicates: array(sensor.map((one) => [one, 2] as const)),
  }),
)

test('a message is read as it was written, whatever stands in it', () => {
  assert(
    property(messages, (message) => {
      const { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo } = message
      const header = { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo }
      expect(decodeReadings(header, encodeReadings(message, 2))).toEqual(message)
    }),
  )
})

test('what is written is as the schema says', () => {
  const isBody = new Ajv({ strict: false }).compile(readingsMessageSchema)
  assert(
    property(messages, (message) => {
      isBody(JSON.parse(new TextDecoder().decode(encodeReadings(message, 2))))
      expect(isBody.errors).toBeNull()
    }),
  )
})

describe('versions of a message', () => {
  const header = { partition: 3, worker: 'w-1', rawLast: 5, rawLastTimeMs: 1, nLast: 2, lateTo: 8 }
  const written = new TextEncoder().encode(fixture.message)
  const read = (change: (body: Record<string, unknown>) => void) => {
    const body: Record<string, unknown> = JSON.parse(
      new TextDecoder().decode(encodeReadings(decodeReadings(header, written), 2)),
    )
    change(body)
    return decodeReadings(header, new TextEncoder().encode(JSON.stringify(body)))
  }

  test('one that 0.1 wrote is read, and written again at format level 1 it is the same bytes', () => {
    const message = decodeReadings(header, written)
    expect(message.readings.map(({ values }) => values)).toEqual([
      valuesOf({ pm25: 1_850, pm10: 3_000, temperature: -150, humidity: 7_000 }),
      valuesOf({ co2: 41_200 }),
    ])
    expect(message.deferred).toMatchObject([
      { rawSeq: 4, item: 1, sensor: 'NGR-LOS-YAB-002', values: valuesOf({ co2: 41_200 }) },
    ])
    expect(new TextDecoder().decode(encodeReadings(message, 1))).toBe(fixture.message)
    expect(decodeReadings(header, encodeReadings(message, 2))).toEqual(message)
  })

  test('one of a later version, or of more quantities, is refused by an error that says what to do, not passed over', () => {
    expect(() => read((body) => (body['v'] = 3))).toThrow(
      'a message of READINGS is of version 3, and this airproof reads it up to version 2',
    )
    const values = [...mapped(1), 1]
    const row = [1, 'NGR-LOS-IKJ-001', 'Ikeja', 1, 1, null, 0, values]
    expect(() => read((body) => (body['readings'] = [row]))).toThrow(NewerFormat)
    row[7] = mapped(1)
    expect(read((body) => (body['readings'] = [row])).readings[0]?.values).toEqual(mapped(1))
  })

  test.each([1, 2])('one of version %i with the rows of the other is none', (v) => {
    const other = v === 1 ? 2 : 1
    const body = encodeReadings(decodeReadings(header, written), other === 1 ? 1 : 2)
    const text = new TextDecoder().decode(body).replace(`"v":${other}`, `"v":${v}`)
    expect(() => decodeReadings(header, new TextEncoder().encode(text))).toThrow(SyntaxError)
  })
})

const mapped = (value: number): number[] => quantityNames.map(() => value)
