/** What is read from the bytes is what JSON says, in every message that the scan takes. */
import { isDeepStrictEqual } from 'node:util'
import {
  type Arbitrary,
  array,
  assert,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  shuffledSubarray,
  string,
  tuple,
} from 'fast-check'
import { expect, test } from 'vitest'
import { countAtLevel, quantityNames } from '../../core/air/quantities.ts'
import { sentIn } from '../../pipeline/decide/judge.ts'
import { type FormatLevel, newestLevel } from '../../schemas/format-level.ts'
import { decodeRaw, isFault, isRawReading } from '../../schemas/log/raw-reading.ts'
import { type SentReading, scanReadings } from '../../schemas/log/scan-readings.ts'

const sender = 'NGR-LOS-IKJ-017'
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const contentOf = ({ sensorId, timeMs, isTimeAssigned, values }: SentReading): SentReading => ({
  sensorId,
  timeMs,
  isTimeAssigned,
  values,
})
const scanned = (bytes: Uint8Array, level: FormatLevel = newestLevel) =>
  scanReadings(bytes, sender, countAtLevel(level))?.map(contentOf)

/** As JSON says; a word where one of them is refused as it is, or is signed. */
function asJson(bytes: Uint8Array, level: FormatLevel = newestLevel) {
  const items = decodeRaw(bytes)
  if (isFault(items)) return items.reason
  return items.map((item) => {
    if (!isRawReading(item)) return 'schema'
    const { timeFault, sig, ...sent } = sentIn(item, { level: { current: () => level } })
    return timeFault?.reason ?? (sig === undefined ? contentOf(sent) : 'signed')
  })
}

const digits = (most: number): Arbitrary<string> =>
  array(nat(9), { maxLength: most }).map((list) => list.join(''))
/** Numbers as texts, so that zeros, signs, points and lengths are as no program would write them. */
const numberText = oneof(
  {
    weight: 20,
    arbitrary: tuple(nat(1_000), digits(4)).map(([whole, rest]) => `${whole}.${rest}`),
  },
  { weight: 10, arbitrary: integer({ min: -5_000, max: 5_000 }).map(String) },
  tuple(constantFrom('', '-'), digits(9), constantFrom('', '.'), digits(9)).map((parts) =>
    parts.join(''),
  ),
  constantFrom('0', '-0', '-0.001', '1e2', '1E-2', '1.005', '0.995', '-0.005', '1e400', '00', '+1'),
)
const time = oneof(
  {
    weight: 8,
    arbitrary: integer({ min: 0, max: 4.1e12 }).map((ms) => new Date(ms).toISOString()),
  },
  tuple(
    constantFrom(
      '2026-01-15',
      '2024-02-29',
      '2025-02-29',
      '2026-02-30',
      '2026-13-01',
      '1969-12-31',
    ),
    constantFrom('T', ' ', 't'),
    constantFrom('10:30:00', '10:30', '23:59:59', '24:00:00', '10:60:00', '10:30:60', '1:30:00'),
    constantFrom('', '.', '.5', '.12', ',5', '.123456', '.1234567890123'),
    constantFrom('Z', 'z', '', '+01:00', '-05:30', '+0100', '+01', '+24:00', '-00:00', 'Y'),
  ).map((parts) => parts.join('')),
).map((text) => `"${text}"`)
const anyText = oneof(
  constantFrom('"NRZ-2020-133/EN"', `"${sender}"`, '"NGR-LOS-IKJ-018"', '""', '"µg"', '"a\\u0062"'),
  string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
)
const anyValue = oneof(
  { weight: 4, arbitrary: numberText },
  { weight: 3, arbitrary: anyText },
  constantFrom('null', 'true', 'false', 'nul', '[1]', '{}', '{"v":[1]}', '', 'NaN'),
)
const blank = oneof(
  { weight: 99, arbitrary: constant('') },
  constantFrom(' ', '\n', '\t\r', '\u00a0'),
)
const pairs = (names: readonly string[], value: Arbitrary<string>): Arbitrary<string[]> =>
  shuffledSubarray([...names]).chain((some) =>
    tuple(...some.map(() => tuple(blank, value, blank))).map((values) =>
      values.map(
        ([before, text, after], i) => `${before}"${some[i]}"${after}:${before}${text}${after}`,
      ),
    ),
  )
const usually = <T, U>(usual: Arbitrary<T>, other: Arbitrary<U>): Arbitrary<T | U> =>
  oneof({ weight: 40, arbitrary: usual }, other)
const values = pairs(quantityNames, usually(numberText, oneof(constant('null'), anyValue)))
const objectText = tuple(
  usually(time, anyValue),
  values,
  usually(constant(undefined), values),
  pairs(
    ['firmware', 'rssi', 'pm', 'message', '__proto__', ''],
    usually(oneof(numberText, anyText), anyValue),
  ),
  usually(constant([]), constant([`"sensor_id":"${sender}"`, '"time_assigned":true'])),
  usually(
    constant([]),
    pairs(['sensor_id', 'time_assigned', 'sig', 'timestamp', 'pm25'], anyValue),
  ),
  nat(),
).map(([timestamp, flat, nested, others, usualFields, more, turn]) => {
  const fields = [`"timestamp":${timestamp}`, ...flat, ...others, ...usualFields, ...more]
  if (nested !== undefined) fields.push(`"measurements":{${nested.join(',')}}`)
  const at = turn % fields.length
  return `{${[...fields.slice(at), ...fields.slice(0, at)].join(',')}}`
})
const messageText = oneof(
  { weight: 4, arbitrary: objectText },
  array(objectText, { maxLength: 4 }).map((list) => `[${list.join(',')}]`),
)
/** As it is, or with some bytes changed, put in or left out. */
const messageBytes = tuple(
  messageText,
  oneof(
    { weight: 2, arbitrary: constant([]) },
    array(tuple(nat(), nat(255), constantFrom(0, 1, 2)), { maxLength: 3 }),
  ),
).map(([text, changes]) => {
  const bytes = [...bytesOf(text)]
  for (const [place, byte, kind] of changes)
    bytes.splice(place % (bytes.length + 1), kind === 0 ? 0 : 1, ...(kind === 2 ? [] : [byte]))
  return Uint8Array.from(bytes)
})

test('whatever bytes it takes, it reads in them what JSON says', () => {
  const [taken, left] = [new Set<string>(), new Set<string>()]
  assert(
    property(messageBytes, constantFrom<FormatLevel>(1, 2, 3), (bytes, level) => {
      const found = scanned(bytes, level)
      const isTaken = found !== undefined
      ;(isTaken ? taken : left).add(Buffer.from(bytes).toString('latin1'))
      return !isTaken || isDeepStrictEqual(found, asJson(bytes, level))
    }),
    { numRuns: 20_000 },
  )
  // else it would have compared nothing, or the unusual were not among them
  expect(taken.size).toBeGreaterThan(2_000)
  expect(left.size).toBeGreaterThan(2_000)
})

const timestamp = '"timestamp":"2026-01-15T10:30:00.5Z"'

test('the comparison would find a value that one of them leaves out', () => {
  const bytes = bytesOf(`{${timestamp},"pm25":1,"pressure":1013.25}`)
  expect(scanned(bytes, 1)).toEqual(asJson(bytes, 1))
  expect(scanned(bytes, 1)).not.toEqual(asJson(bytes, 2))
})

test.each([
  ['flat', `{"sensor_id":"${sender}",${timestamp},"pm25":18.505,"co2":412,"rssi":-67.25}`],
  ['under measurements', `{${timestamp},"measurements":{"pm25":-0.001,"pressure":1013.25}}`],
  [
    'both, of which measurements win',
    `{"measurements":{"pm25":1,"pm10":null},${timestamp},"pm25":2,"pm10":3}`,
  ],
  ['an array with blanks', `[ {${timestamp} , "pm25" : 1 },\n{${timestamp},"humidity":50} ] `],
  [
    'with fields that mean nothing',
    `{${timestamp},"pm25":1,"mac":"a1:b2","ok":true,"__proto__":1}`,
  ],
  [
    'an offset, and a time of the gate',
    `{"timestamp":"2026-01-15T11:30:00+01:00","time_assigned":true}`,
  ],
])('sensors send it, and no JSON is made of it: %s', (_, text) => {
  const found = scanned(bytesOf(text))
  expect(found).toBeDefined()
  expect(found).toEqual(asJson(bytesOf(text)))
})

test.each([
  ['an escape', `{${timestamp},"pm25":1,"note":"a\\"b"}`],
  ['a byte beyond ASCII', `{${timestamp},"pm25":1,"unit":"µg"}`],
  ['an exponent', `{${timestamp},"pm25":1.8e1}`],
  ['sixteen digits', `{${timestamp},"pm25":1.004999999999999999}`],
  ['a field twice', `{${timestamp},"pm25":1,"pm25":2}`],
  ['a text for a number', `{${timestamp},"pm1":"9"}`],
  ['a list', `{${timestamp},"pm25":1,"raw":[1,2]}`],
  ['a signature', `{${timestamp},"pm25":1,"sig":""}`],
  ['no time', `{"pm25":1}`],
  ['a time without an offset', `{"timestamp":"2026-01-15T10:30:00","pm25":1}`],
  ['a day that is not', `{"timestamp":"2025-02-29T10:30:00Z","pm25":1}`],
  ['an empty array', '[]'],
  ['more than 500', `[${Array(501).fill(`{${timestamp}}`).join(',')}]`],
  ['something after it', `{${timestamp},"pm25":1}x`],
  ['half of it', `{${timestamp},"pm25":1`],
])('it is left to JSON: %s', (_, text) => {
  expect(scanned(bytesOf(text))).toBeUndefined()
})
