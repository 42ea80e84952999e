import {
  array,
  assert,
  constantFrom,
  integer,
  maxSafeInteger,
  oneof,
  option,
  property,
  record,
} from 'fast-check'
import { expect, test } from 'vitest'
import { quantityNames } from '../../core/air/quantities.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { trimmed } from '../../core/air/values.ts'
import { escapeTag, quoted } from '../../store/influx/line-protocol.ts'
import { readingLines } from '../../store/influx/reading-lines.ts'
import { packReadings } from '../../store/packed-readings.ts'
import type { StoreRow } from '../../store/store.ts'

/** The same lines in the obvious way. */
function plainLine(row: StoreRow): string {
  const { device, signed } = row
  const fields = [
    ...row.values.flatMap((value, id) =>
      value === null ? [] : [`${quantityNames[id]}=${value / 100}`],
    ),
    ...(row.aqi === null ? [] : [`aqi=${row.aqi}i`]),
    ...(row.leafVersion === undefined ? [] : [`leaf=${row.leafVersion}i`]),
    ...(row.isBackfill === undefined ? [] : ['backfill=1i']),
    ...(device === undefined ? [] : [`device=${quoted(device)}`]),
    ...(signed === undefined
      ? []
      : [
          `sig_algorithm=${quoted(signed.algorithm)}`,
          `sig_key=${quoted(signed.publicKey)}`,
          `sig=${quoted(signed.signature)}`,
          `sig_text=${quoted(JSON.stringify(signed.text).slice(1, -1))}`,
        ]),
    `flags=${row.flags}i`,
    `seq=${row.seq}i`,
  ]
  const tags = `area=${escapeTag(row.area)},sensor_id=${escapeTag(row.sensor)}`
  return `reading,${tags} ${fields.join(',')} ${row.timeMs}`
}

const largest = 2 ** 31 - 1
const odd = [0, 1, 5, 9, 10, 50, 99, 100, 101, 110, 999, 1_000, 1_005, 99_990, largest]
const value = option(
  oneof(constantFrom(...odd, ...odd.map((one) => -one)), integer({ min: -largest, max: largest })),
  { nil: null },
)
const count = integer({ min: 0, max: 9 }).chain((digits) =>
  digits === 9 ? maxSafeInteger().map(Math.abs) : integer({ min: 0, max: 10 ** digits }),
)
const signed = record({
  algorithm: constantFrom('ed25519' as const, 'p256' as const),
  publicKey: constantFrom('AAAA', 'a+/='),
  signature: constantFrom('c2ln'),
  text: constantFrom('', 'pm25=1.50\n"quoted" \\ Ẹ̀kọ́', 'x'.repeat(70_000)),
})
const rows = array(
  record({
    sensor: constantFrom('NGR-LOS-IKJ-001', 'NGR-LOS-IKJ-002', 'NGR-LOS-YAB-0003').map(
      (id) => id as SensorId,
    ),
    area: constantFrom('Ikeja', 'Ìkẹjà GRA', 'a, b=c', '拉各斯 🏙'),
    timeMs: integer({ min: 0, max: Date.UTC(2199, 0, 1) }),
    values: array(value, { minLength: 5, maxLength: quantityNames.length }).map(trimmed),
    aqi: option(integer({ min: 0, max: 500 }), { nil: null }),
    flags: integer({ min: 0, max: 2 ** 30 }),
    seq: count,
    leafVersion: constantFrom(undefined, 2 as const),
    isBackfill: constantFrom(undefined, true as const),
    device: constantFrom(undefined, undefined, `0x${'ab'.repeat(32)}` as const),
    signed: option(signed, { nil: undefined, freq: 3 }),
  }),
  { maxLength: 40 },
)

test('the bytes are those of the obvious way, whatever the readings are', () => {
  const linesOf = readingLines()
  assert(
    property(array(rows, { maxLength: 4 }), (batches) => {
      const all = batches.flat().map((row) =>
        // what has no device is not signed
        row.device === undefined ? { ...row, signed: undefined } : row,
      ) as StoreRow[]
      const packed = batches.map((batch) => packReadings(batch as StoreRow[]))
      expect(linesOf(packed)).toBe(all.map(plainLine).join('\n'))
    }),
    { numRuns: 300 },
  )
})

test('no readings are no text', () => {
  expect(readingLines()([])).toBe('')
  expect(readingLines()([packReadings([])])).toBe('')
})
