import { Ajv } from 'ajv'
import {
  array,
  assert,
  constantFrom,
  integer,
  option,
  property,
  record,
  string,
  uint8Array,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapQuantities, quantityNames } from '../../core/air/quantities.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { toHex } from '../../core/hex.ts'
import { type LogMessage, refusalReasons } from '../../core/state/log-message.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import {
  decodeReadings,
  encodeReadings,
  readingsMessageSchema,
  readingsSchemaV3,
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

const base64 = (bytes: number) =>
  uint8Array({ minLength: bytes, maxLength: bytes }).map((some) =>
    Buffer.from(some).toString('base64'),
  )
const signature = record({
  device: uint8Array({ minLength: 32, maxLength: 32 }).map(toHex),
  signed: record({
    algorithm: constantFrom('ed25519' as const, 'p256' as const),
    publicKey: base64(33),
    signature: base64(64),
    text: text.filter((signed) => signed.isWellFormed()),
  }),
})
const signedOrNot = option(signature, { nil: {} })
/** A message of leaf version 2: some of its readings are signed. */
const messagesV3 = messages.chain((message) => {
  const { length } = message.readings
  return record({
    readings: array(signedOrNot, { minLength: length, maxLength: length }),
    deferred: array(signedOrNot, { maxLength: message.deferred.length }),
  }).map(
    (signatures): LogMessage => ({
      ...message,
      readings: message.readings.map((reading, i) => ({
        ...reading,
        ...signatures.readings[i],
        leafVersion: 2,
      })),
      deferred: message.deferred.map((reading, i) => ({ ...reading, ...signatures.deferred[i] })),
      leafVersion: 2,
    }),
  )
})

test.each([
  [2, messages],
  [3, messagesV3],
] as const)('a message of version %i is read as it was written, whatever it holds', (v, some) => {
  assert(
    property(some, (message) => {
      const { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo } = message
      const header = { partition, worker, rawLast, rawLastTimeMs, nLast, lateTo }
      const bytes = encodeReadings(message, v)
      expect(new TextDecoder().decode(bytes)).toContain(`{"v":${v},`)
      expect(decodeReadings(header, bytes)).toEqual(message)
    }),
  )
})

test.each([
  [readingsMessageSchema, messages],
  [readingsSchemaV3, messagesV3],
] as const)('what is written is as the schema says', (schema, some) => {
  const isBody = new Ajv({ strict: false }).compile(schema)
  assert(
    property(some, (message) => {
      isBody(JSON.parse(new TextDecoder().decode(encodeReadings(message, 2))))
      expect(isBody.errors).toBeNull()
    }),
  )
})

describe('version 3', () => {
  const header = { partition: 0, worker: 'w-1', rawLast: 0, rawLastTimeMs: 0, nLast: 0, lateTo: 0 }
  const empty: LogMessage = {
    ...header,
    listenedMs: 0,
    readings: [],
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
    leafVersion: 2,
  }
  const change = (message: LogMessage, over: Record<string, unknown>): Uint8Array =>
    new TextEncoder().encode(
      JSON.stringify({
        ...JSON.parse(new TextDecoder().decode(encodeReadings(message, 3))),
        ...over,
      }),
    )

  test('a mark is read as one, and holds nothing', () => {
    const mark: LogMessage = { ...empty, isMark: true }
    expect(decodeReadings(header, encodeReadings(mark, 3))).toStrictEqual(mark)
    for (const full of [
      { readings: [[1, 'NGR-LOS-IKJ-001', 'Ikeja', 1, 1, null, 0, [1, 1, 1, 1, 1]]] },
      { held: ['NGR-LOS-IKJ-001'] },
      { duplicates: [['NGR-LOS-IKJ-001', 1]] },
      { refused: [[1, 0, 'future', 'NGR-LOS-IKJ-001', '']] },
    ])
      expect(() => decodeReadings(header, change(mark, full))).toThrow('a mark holds nothing')
  })

  test('it has nothing of a signature or a mark that it does not hold', () => {
    const text = new TextDecoder().decode(encodeReadings(empty, 3))
    expect(text).toBe(
      new TextDecoder()
        .decode(encodeReadings({ ...empty, leafVersion: undefined } as never, 2))
        .replace('"v":2', '"v":3'),
    )
  })

  test('a worker that wrote version 3 never goes back, whatever level it sees', () => {
    for (const level of [1, 2, 3] as const)
      expect(JSON.parse(new TextDecoder().decode(encodeReadings(empty, level)))['v']).toBe(3)
  })

  test.each([
    ['of no reading', 0, 'a'.repeat(64)],
    ['whose hash is not one', 0, 'A'.repeat(64)],
    ['of a place before the first', -1, 'a'.repeat(64)],
  ])('a signature %s is refused', (_, place, hash) => {
    const row = [place, `0x${hash}`, 'ed25519', 'AA==', 'AA==', 'text']
    expect(() => decodeReadings(header, change(empty, { signed: [row] }))).toThrow(SyntaxError)
    expect(() => decodeReadings(header, change(empty, { signedDeferred: [row] }))).toThrow(
      'is not that of a reading of the message',
    )
  })

  test('a reading has one signature', () => {
    const reading = [1, 'NGR-LOS-IKJ-001', 'Ikeja', 1, 1, null, 0, [1, 1, 1, 1, 1]]
    const row = [0, `0x${'a'.repeat(64)}`, 'ed25519', 'AA==', 'AA==', 'text']
    const body = (signed: unknown[]) => change(empty, { readings: [reading], signed })
    expect(decodeReadings(header, body([row])).readings[0]).toMatchObject({ leafVersion: 2 })
    expect(() => decodeReadings(header, body([row, row]))).toThrow(SyntaxError)
  })
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
    expect(() => read((body) => (body['v'] = 4))).toThrow(
      'a message of READINGS is of version 4, and this airproof reads it up to version 3',
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
