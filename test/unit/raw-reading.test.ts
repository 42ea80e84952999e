import { assert, json, property, string, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeRaw, isFault, isRawReading, schemaFault } from '../../schemas/log/raw-reading.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const reasonOf = (bytes: Uint8Array): string => {
  const items = decodeRaw(bytes)
  return isFault(items) ? items.reason : `${items.length} items`
}
const deeply = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('a raw message is', () => {
  test.each<[string, Uint8Array, string]>([
    ['nothing at all', encode(''), 'not_json'],
    ['a word', encode('hello'), 'not_json'],
    ['half an object', encode('{"timestamp":'), 'not_json'],
    ['a number NaN', encode('{"pm25":NaN}'), 'not_json'],
    ['two objects', encode('{}{}'), 'not_json'],
    ['not UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d), 'not_json'],
    ['UTF-8 cut within a character', encode('{"a":"é"}').slice(0, 7), 'not_json'],
    ['an overlong encoding of /', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 'not_json'],
    ['128 KiB', encode(`"${'a'.repeat(128 * 1024 - 2)}"`), '1 items'],
    ['a byte more', encode(`"${'a'.repeat(128 * 1024 - 1)}"`), 'too_large'],
    ['an empty array', encode(' [ ] '), 'empty'],
    ['an array of 500', encode(JSON.stringify(Array(500).fill({}))), '500 items'],
    ['an array of 501', encode(JSON.stringify(Array(501).fill({}))), 'too_many'],
    ['null', encode('null'), '1 items'],
    ['behind a byte order mark', encode('\uFEFF{}'), '1 items'],
    ['60,000 brackets deep', encode(deeply(60_000)), '1 items'],
    ['100,000 brackets deep', encode(deeply(100_000)), 'too_large'],
    ['an object that looks like a fault of ours', encode('{"reason":"x","why":"y"}'), '1 items'],
  ])('%s: $2', (_, bytes, expected) => {
    expect(reasonOf(bytes)).toBe(expected)
  })
})

describe('an item is a raw reading', () => {
  const time = '2026-01-15T10:30:00Z'
  test.each<[string, unknown]>([
    ['with a time alone', { timestamp: time }],
    ['with flat values', { timestamp: time, pm25: 18.5, co2: 412 }],
    ['with nested values', { timestamp: time, measurements: { pm25: 18.5 } }],
    ['with nulls', { timestamp: time, pm25: null, measurements: { humidity: null } }],
    ['with fields nobody knows', { timestamp: time, pm25: 1, firmware: { v: [1] }, pm1: '9' }],
    ['with fields of our own words', { timestamp: time, reason: 'scheduled', why: 5, items: [] }],
  ])('%s', (_, item) => {
    expect(isRawReading(item)).toBe(true)
  })
})

describe('an item is none', () => {
  const timestamp = '2026-01-15T10:30:00Z'
  test.each<[string, unknown, string]>([
    ['null', null, 'the reading must be object'],
    ['an array', [], 'the reading must be object'],
    ['60,000 brackets', JSON.parse(deeply(60_000)), 'the reading must be object'],
    ['without a time', { pm25: 1 }, "the reading must have required property 'timestamp'"],
    ['with a numeric time', { timestamp: 5 }, 'timestamp must be string'],
    ['with a text for a number', { timestamp, pm25: '18.5' }, 'pm25 must be number,null'],
    [
      'with a nested text',
      { timestamp, measurements: { pm10: '1' } },
      'measurements.pm10 must be number,null',
    ],
    ['with a true', { timestamp, humidity: true }, 'humidity must be number,null'],
    ['with 1e400', JSON.parse(`{"timestamp":"${timestamp}","co2":1e400}`), 'co2 must be number'],
    ['with measurements null', { timestamp, measurements: null }, 'measurements must be object'],
    ['with measurements as a list', { timestamp, measurements: [] }, 'measurements must be object'],
    ['with a numeric sensor', { timestamp, sensor_id: 17 }, 'sensor_id must be string'],
    ['with a time of fields', { timestamp: { reason: 'x' } }, 'timestamp must be string'],
  ])('%s', (_, item, why) => {
    expect(isRawReading(item)).toBe(false)
    const fault = schemaFault()
    expect(fault.reason).toBe('schema')
    expect(fault.why).toContain(why)
  })
})

test('no bytes make it throw, and no reason is without bound', () => {
  for (const bytes of [uint8Array({ maxLength: 200 }), json().map(encode), string().map(encode)]) {
    assert(
      property(bytes, (data) => {
        const items = decodeRaw(data)
        const faults = isFault(items)
          ? [items]
          : items.filter((item) => !isRawReading(item)).map(schemaFault)
        expect(faults.every(({ why }) => why.length <= 200)).toBe(true)
      }),
    )
  }
})
