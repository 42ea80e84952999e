import { Ajv } from 'ajv'
import { array, assert, constantFrom, integer, option, property, record, string } from 'fast-check'
import { expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { type LogMessage, refusalReasons } from '../../core/state/log-message.ts'
import {
  decodeReadings,
  encodeReadings,
  readingsMessageSchema,
} from '../../schemas/log/readings-message.ts'

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
  values: array(value, { minLength: 5, maxLength: 5 }),
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
      expect(decodeReadings(header, encodeReadings(message))).toEqual(message)
    }),
  )
})

test('what is written is as the schema says', () => {
  const isBody = new Ajv({ strict: false }).compile(readingsMessageSchema)
  assert(
    property(messages, (message) => {
      isBody(JSON.parse(new TextDecoder().decode(encodeReadings(message))))
      expect(isBody.errors).toBeNull()
    }),
  )
})
