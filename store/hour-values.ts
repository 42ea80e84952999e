/**
 * What an area's hour holds, so that statistics of many hours are those of the readings without reading
 * them: how often each value is there. Kept beside the hour's statistics where the hour has many readings;
 * of a small one the readings themselves are read.
 *
 * Version 1, zlib of LEB128 numbers: 1, `statRules`, readings, failed, then for each field that has values its
 * number (the index 0, a quantity its id + 1), how many values it has, the first of them (zigzag), and for
 * each its distance from the one before (0 for the first) and its count.
 */
import { deflateSync, inflateSync } from 'node:zlib'
import { quantityIds } from '../core/air/quantities.ts'
import { floorTo, hourMs } from '../core/time.ts'
import { type CountedValues, noneCounted } from './counted-values.ts'
import { statFields, statRules } from './stat-fields.ts'
import type { Span } from './step-spans.ts'

export type HourValues = {
  /** Those that have not failed. */
  readonly readings: number
  readonly failed: number
  /** In the order of `statFields`. */
  readonly fields: readonly CountedValues[]
}

/** Of fewer readings an hour's values are not kept: a day of such hours is read in some 50 ms. */
export const fewestCounted = 5_000

const version = 1
/** By the place in `statFields`, which moves when a quantity is added. */
const numbers = statFields.map((field) => (field === 'aqi' ? 0 : quantityIds[field] + 1))

export function encodeHourValues({
  readings,
  failed,
  fields,
}: HourValues): Uint8Array<ArrayBuffer> {
  const bytes: number[] = []
  const push = (number: number): void => {
    let rest = number
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
    bytes.push(rest)
  }
  push(version)
  push(statRules)
  push(readings)
  push(failed)
  for (const [place, { values, counts }] of fields.entries()) {
    if (values.length === 0) continue
    let before = values[0]!
    push(numbers[place]!)
    push(values.length)
    push(before < 0 ? -2 * before - 1 : 2 * before)
    for (let at = 0; at < values.length; at++) {
      push(values[at]! - before)
      push(counts[at]!)
      before = values[at]!
    }
  }
  // its values lie close together: a number is nearly always below 128, and many are the same
  return new Uint8Array(deflateSync(Uint8Array.from(bytes), { level: 3 }))
}

/** @returns undefined for another version, other rules, or what is torn: then the readings are read */
export function decodeHourValues(written: Uint8Array | undefined): HourValues | undefined {
  if (written === undefined) return undefined
  let bytes: Uint8Array
  try {
    bytes = inflateSync(written)
  } catch {
    return undefined
  }
  let at = 0
  const next = (): number => {
    let byte = bytes[at++] ?? Number.NaN
    if (byte < 0x80) return byte
    let number = 0
    let scale = 1
    for (; byte >= 0x80; byte = bytes[at++] ?? Number.NaN) {
      number += (byte - 0x80) * scale
      scale *= 0x80
    }
    return number + byte * scale
  }
  if (next() !== version || next() !== statRules) return undefined
  const readings = next()
  const failed = next()
  const fields = statFields.map(() => noneCounted)
  while (at < bytes.length) {
    const place = numbers.indexOf(next())
    const length = next()
    if (place < 0 || !(length <= bytes.length)) return undefined
    const values = new Int32Array(length)
    const counts = new Uint32Array(length)
    const zigzag = next()
    let value = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    for (let i = 0; i < length; i++) {
      value += next()
      values[i] = value
      counts[i] = next()
    }
    fields[place] = { values, counts }
  }
  return at === bytes.length ? { readings, failed, fields } : undefined
}

/**
 * Whether the values are of the hour as it is written now. The hour's statistics are written again when a
 * late reading arrives, and its values after them.
 */
export const isOfHour = (
  hour: HourValues | undefined,
  readings: unknown,
  failed: unknown,
): hour is HourValues => hour?.readings === readings && hour?.failed === failed

/** The whole hours of a span. */
export const hoursIn = ({ fromMs, toMs }: Span): Span => ({
  fromMs: floorTo(fromMs + hourMs - 1, hourMs),
  toMs: floorTo(toMs, hourMs),
})

/** What is left of a span beside some of its hours, ascending. */
export function besideHours({ fromMs, toMs }: Span, hours: readonly number[]): readonly Span[] {
  const spans: Span[] = []
  let at = fromMs
  for (const hour of hours.toSorted((a, b) => a - b)) {
    if (hour > at) spans.push({ fromMs: at, toMs: hour })
    at = hour + hourMs
  }
  if (toMs > at) spans.push({ fromMs: at, toMs })
  return spans
}
