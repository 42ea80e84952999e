import { assert, constantFrom, integer, property, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatIso, formatIsoMs, parseIso, toIsoMs } from '../../core/iso-time.ts'

describe('one instant, however it is written', () => {
  const instant = Date.UTC(2026, 0, 15, 11, 30, 0)
  test.each([
    '2026-01-15T11:30:00Z',
    '2026-01-15t11:30:00z',
    '2026-01-15 11:30:00Z',
    '2026-01-15T11:30Z',
    '2026-01-15T11:30:00.000Z',
    '2026-01-15T11:30:00,000Z',
    '2026-01-15T11:30:00.000000000Z',
    '2026-01-15T12:30:00+01:00',
    '2026-01-15T12:30:00+0100',
    '2026-01-15T12:30:00+01',
    '2026-01-15T05:45:00-05:45',
    '2026-01-16T11:29:00+23:59',
    '2026-01-15T11:30:00-00:00',
  ])('%s', (text) => {
    expect(parseIso(text)).toEqual({ timeMs: instant })
  })
})

test.each([
  ['2026-01-15T11:30:00.9999Z', 999],
  ['2026-01-15T11:30:00.1Z', 100],
  ['2026-01-15T11:30:00.01Z', 10],
  ['2026-01-15T11:30:00.0009Z', 0],
])('fractions are floored to a millisecond: %s', (text, ms) => {
  expect(parseIso(text)).toEqual({ timeMs: Date.UTC(2026, 0, 15, 11, 30, 0) + ms })
})

test('a time without an offset is recognised, with its value as UTC', () => {
  expect(parseIso('2026-01-15T11:30:00.250')).toEqual({
    wrong: 'no_offset',
    asUtcMs: Date.UTC(2026, 0, 15, 11, 30, 0, 250),
  })
})

describe('not an instant', () => {
  test.each([
    ['', 'empty'],
    ['2026-01-15', 'a day alone'],
    ['2026-01-15Z', 'a day with an offset'],
    ['2025-02-29T00:00:00Z', '29 February of no leap year'],
    ['1900-02-29T00:00:00Z', '29 February of a century'],
    ['2026-04-31T00:00:00Z', '31 April'],
    ['2026-00-10T00:00:00Z', 'month 0'],
    ['2026-13-10T00:00:00Z', 'month 13'],
    ['2026-01-00T00:00:00Z', 'day 0'],
    ['2026-01-15T24:00:00Z', 'hour 24'],
    ['2026-01-15T11:60:00Z', 'minute 60'],
    ['2026-12-31T23:59:60Z', 'a leap second'],
    ['2026-01-15T11:30:00.Z', 'a point without digits'],
    ['2026-01-15T11:30:0Z', 'one digit of seconds'],
    ['2026-01-15T11:30:00+24:00', 'an offset of a day'],
    ['2026-01-15T11:30:00+1:00', 'one digit of offset'],
    ['2026-01-15T11:30:00+01:', 'half an offset'],
    ['2026-01-15T11:30:00 Z', 'a space before the offset'],
    ['2026-01-15T11:30:00Zulu', 'more behind the offset'],
    ['2026-01-15T11:30:00Z ', 'a space behind the offset'],
    ['-026-01-15T11:30:00Z', 'a negative year'],
    ['+12026-01-15T11:30:00Z', 'a year of five digits'],
    ['２０２６-01-15T11:30:00Z', 'digits of another script'],
    ['15/01/2026 11:30:00Z', 'another order'],
    ['1768476600000', 'a number'],
    [`2026-01-15T11:30:00.${'0'.repeat(30)}Z`, 'longer than any clock needs'],
  ])('%s (%s)', (text) => {
    expect(parseIso(text)).toMatchObject({ wrong: 'invalid' })
  })
})

test('29 February exists in leap years', () => {
  expect(parseIso('2024-02-29T00:00:00Z')).toEqual({ timeMs: Date.UTC(2024, 1, 29) })
  expect(parseIso('2000-02-29T00:00:00Z')).toEqual({ timeMs: Date.UTC(2000, 1, 29) })
})

const digits = (most: number, length: number, min = 0) =>
  integer({ min, max: most }).map((value) => String(value).padStart(length, '0'))
const dateTimes = tuple(
  // Date.parse takes years below 50 for years of this century where no T follows
  digits(9_999, 4, 1_000),
  digits(13, 2),
  digits(32, 2),
  constantFrom('T', 't', ' '),
  digits(24, 2),
  digits(60, 2),
  constantFrom('', ':00', ':59', ':60', ':07.5', ':31.0625', ':31.99999'),
  constantFrom('', 'Z', 'z', '+01:00', '-0330', '+23:59', '-11:15'),
).map(([year, month, day, t, hour, minute, rest, offset]) => {
  return `${year}-${month}-${day}${t}${hour}:${minute}${rest}${offset}`
})

test('if Date.parse also accepts a time with an offset, both mean the same instant', () => {
  let compared = 0
  assert(
    property(dateTimes, (text) => {
      const verdict = parseIso(text)
      const expected = Date.parse(text)
      if (!('timeMs' in verdict) || Number.isNaN(expected)) return
      compared++
      expect(verdict.timeMs).toBe(expected)
    }),
    { numRuns: 3_000 },
  )
  expect(compared).toBeGreaterThan(500)
})

test('what is accepted is written as it will be read again', () => {
  assert(
    property(integer({ min: 0, max: Date.UTC(9_999, 11, 31) }), (timeMs) => {
      expect(parseIso(formatIso(timeMs))).toEqual({ timeMs })
      expect(parseIso(formatIsoMs(timeMs))).toEqual({ timeMs })
      expect(toIsoMs(formatIso(timeMs))).toBe(formatIsoMs(timeMs))
    }),
  )
})

test('a time sent to clients sorts as text in the same order as a time', () => {
  const times = integer({ min: 0, max: Date.UTC(9_999, 11, 31) }).map((ms) => ms - (ms % 500))
  assert(
    property(times, times, (a, b) => {
      expect(formatIsoMs(a) < formatIsoMs(b)).toBe(a < b)
    }),
  )
})

test('no text makes it throw', () => {
  const almost = tuple(dateTimes, string({ unit: 'binary', maxLength: 3 })).map((p) => p.join(''))
  for (const texts of [string({ unit: 'binary', maxLength: 50 }), almost]) {
    assert(
      property(texts, (text) => {
        const verdict = parseIso(text)
        const result = 'timeMs' in verdict ? Number.isSafeInteger(verdict.timeMs) : verdict.wrong
        expect(result).toBeTruthy()
      }),
    )
  }
})
