import { deflateSync } from 'node:zlib'
import { array, assert, constantFrom, integer, property, record, subarray } from 'fast-check'
import { expect, test } from 'vitest'
import { median, percentile } from '../../core/air/percentile.ts'
import { hourMs } from '../../core/time.ts'
import { type CountedValues, countValues } from '../../store/counted-values.ts'
import {
  besideHours,
  decodeHourValues,
  encodeHourValues,
  type HourValues,
} from '../../store/hour-values.ts'
import { statFields, statRules } from '../../store/stat-fields.ts'
import { summarise } from '../../store/summarise.ts'

const most = 2 ** 31 - 1
const values = array(
  constantFrom(
    integer({ min: -40, max: 40 }),
    integer({ min: 0, max: 100_000 }),
    integer({ min: -most, max: most }),
  ).chain((value) => value),
  { maxLength: 60 },
)
const counted = (list: readonly number[]): CountedValues => countValues(Int32Array.from(list))
const hour = record({
  readings: integer({ min: 0, max: 10_000_000 }),
  failed: integer({ min: 0, max: 300 }),
  fields: array(values, { minLength: statFields.length, maxLength: statFields.length }),
})

test('statistics of values that were counted in parts are those of all values, to the last bit', () => {
  assert(
    property(values, array(values, { maxLength: 5 }), (rest, parts) => {
      const all = [...rest, ...parts.flat()]
      const together = countValues(Int32Array.from(rest), parts.map(counted))
      expect(together).toEqual(counted(all))
      const sorted = Int32Array.from(all).toSorted()
      expect(summarise(together, 1)).toMatchObject({
        n: all.length,
        p50: median(sorted),
        p98: percentile(sorted, 98),
        q02: percentile(sorted, 2),
        q25: percentile(sorted, 25),
        q75: percentile(sorted, 75),
      })
    }),
  )
})

test('a deviation is exact where the squares of the values are not', () => {
  const { sd } = summarise(counted([most, most, -most, -most]), 1)
  expect(sd).toBe(Math.sqrt((4 * most ** 2) / 3))
  expect(summarise(counted([7]), 1).sd).toBeNull()
})

test('an hour is read as it was written', () => {
  assert(
    property(hour, ({ fields, ...head }) => {
      const written: HourValues = { ...head, fields: fields.map(counted) }
      expect(decodeHourValues(encodeHourValues(written))).toEqual(written)
    }),
  )
})

test('an hour that is torn is not read', () => {
  assert(
    property(hour, integer({ min: 0 }), integer({ min: 1, max: 255 }), (written, place, bits) => {
      const bytes = encodeHourValues({ ...written, fields: written.fields.map(counted) })
      const at = place % bytes.length
      expect(decodeHourValues(bytes.subarray(0, at))).toBeUndefined()
      bytes[at]! ^= bits
      expect(decodeHourValues(bytes)).toBeUndefined()
    }),
  )
})

test.each([
  ['ours', [1, statRules, 0, 0], true],
  ['a later version', [2, statRules, 0, 0], false],
  ['other rules', [1, statRules + 1, 0, 0], false],
  ['a quantity that is not known', [1, statRules, 1, 0, 100, 1, 2, 0, 1], false],
  ['more than it says', [1, statRules, 1, 0, 0, 1, 2, 0, 1, 0], false],
])('an hour of %s', (_, numbers, isRead) => {
  expect(decodeHourValues(deflateSync(Uint8Array.from(numbers))) !== undefined).toBe(isRead)
})

test('a span is its hours and what is beside them', () => {
  const hours = Array.from({ length: 6 }, (_, at) => at * hourMs)
  assert(
    property(
      integer({ min: 0, max: 3 * hourMs }),
      integer({ min: 1, max: 3 * hourMs }),
      subarray(hours),
      (fromMs, lengthMs, some) => {
        const toMs = fromMs + lengthMs
        const inside = some.filter((start) => start >= fromMs && start + hourMs <= toMs)
        const beside = besideHours({ fromMs, toMs }, inside.toReversed())
        const parts = [
          ...beside,
          ...inside.map((start) => ({ fromMs: start, toMs: start + hourMs })),
        ].toSorted((a, b) => a.fromMs - b.fromMs)
        // each begins where the one before ends
        expect([...parts.map((part) => part.fromMs), toMs]).toEqual([
          fromMs,
          ...parts.map((part) => part.toMs),
        ])
        expect(parts.every((part) => part.toMs > part.fromMs)).toBe(true)
      },
    ),
  )
})
