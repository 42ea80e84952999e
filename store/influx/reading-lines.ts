/**
 * The lines of readings, written as bytes into one buffer: measured values are float fields in their unit;
 * `aqi`, `flags` and `seq` integers. A double's own text takes five times as long as the digits of
 * whole hundredths, and the client's `Point` fifteen times.
 */
import { quantityNames } from '../../core/air/quantities.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { cellAt, type PackedReadings } from '../packed-readings.ts'
import { deviceFields, escapeTag } from './line-protocol.ts'

/** More sensors than a process has; beyond it the prefixes are made again. */
const mostPrefixes = 200_000

const encoder = new TextEncoder()
const textOf = (text: string): Uint8Array => encoder.encode(text)
const names = quantityNames.map((name) => textOf(`${name}=`))
const longestFields = names.reduce((sum, { length }) => sum + length + 16, 128)
const aqi = textOf('aqi=')
const leaf = textOf('leaf=')
const backfill = textOf('backfill=')
const flags = textOf('flags=')
const seq = textOf('i,seq=')
const endOfInteger = textOf('i,')
const beforeTime = textOf('i ')
const byteOf = (character: string): number => character.charCodeAt(0)
const zero = byteOf('0')
const comma = byteOf(',')
const point = byteOf('.')
const minus = byteOf('-')
const lineBreak = byteOf('\n')
const nineDigits = 1e9

/** Makes the lines of batches and keeps, for each sensor, what all of its lines begin with. */
export function readingLines(): (batches: readonly PackedReadings[]) => string {
  const known = new Map<SensorId, { readonly area: string; readonly bytes: Uint8Array }>()
  const prefixOf = (sensor: SensorId, area: string): Uint8Array => {
    const found = known.get(sensor)
    if (found?.area === area) return found.bytes
    if (known.size >= mostPrefixes) known.clear()
    const bytes = textOf(`reading,area=${escapeTag(area)},sensor_id=${escapeTag(sensor)} `)
    known.set(sensor, { area, bytes })
    return bytes
  }
  let buffer = Buffer.allocUnsafe(1 << 16)
  return (batches) => {
    let end = 0
    for (const packed of batches) {
      const { sensors, areas, width, cells, devices } = packed
      const deviceOf = new Map(devices.map((own) => [own.row, textOf(deviceFields(own))]))
      for (let at = 0; at < cells.length; at += width) {
        const device = deviceOf.size === 0 ? undefined : deviceOf.get(at / width)
        const prefix = prefixOf(
          sensors[cells[at + cellAt.sensor]!]!,
          areas[cells[at + cellAt.area]!]!,
        )
        const longest = prefix.length + longestFields + (device?.length ?? 0)
        if (end + longest > buffer.length) buffer = grown(buffer, end, longest)
        if (end > 0) buffer[end++] = lineBreak
        end = putText(buffer, end, prefix)
        end = putFields(buffer, end, { cells, at, width }, device)
      }
    }
    return buffer.toString('utf8', 0, end)
  }
}

/** With room for this number of bytes after `end`. */
function grown(buffer: Buffer, end: number, room: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(2 * (end + room))
  buffer.copy(larger, 0, 0, end)
  return larger
}

type Row = { readonly cells: Float64Array; readonly at: number; readonly width: number }

/** @returns where the line ends, as all that follow return where what they put ends */
function putFields(
  buffer: Buffer,
  from: number,
  { cells, at, width }: Row,
  device: Uint8Array | undefined,
): number {
  let end = from
  // integers end every line, so each value brings its own comma
  for (let id = 0; id < width - cellAt.values; id++) {
    const value = cells[at + cellAt.values + id]!
    if (Number.isNaN(value)) continue
    end = putHundredths(buffer, putText(buffer, end, names[id]!), value)
    buffer[end++] = comma
  }
  end = putIntegerField(buffer, end, aqi, cells[at + cellAt.aqi]!)
  end = putIntegerField(buffer, end, leaf, cells[at + cellAt.leafVersion]!)
  end = putIntegerField(buffer, end, backfill, cells[at + cellAt.isBackfill]!)
  if (device !== undefined) end = putText(buffer, end, device)
  end = putInteger(buffer, putText(buffer, end, flags), cells[at + cellAt.flags]!)
  end = putInteger(buffer, putText(buffer, end, seq), cells[at + cellAt.seq]!)
  return putInteger(buffer, putText(buffer, end, beforeTime), cells[at + cellAt.timeMs]!)
}

function putText(buffer: Buffer, from: number, text: Uint8Array): number {
  for (let i = 0; i < text.length; i++) buffer[from + i] = text[i]!
  return from + text.length
}

/** Nothing for NaN. */
function putIntegerField(buffer: Buffer, from: number, name: Uint8Array, value: number): number {
  if (Number.isNaN(value)) return from
  return putText(buffer, putInteger(buffer, putText(buffer, from, name), value), endOfInteger)
}

/** @param value whole, 0 or more */
function putInteger(buffer: Buffer, from: number, value: number): number {
  if (value < nineDigits) return putDigits(buffer, from, value, 1)
  const high = Math.floor(value / nineDigits)
  return putDigits(buffer, putInteger(buffer, from, high), value - high * nineDigits, 9)
}

/** The text of the double that is a hundredth of it. @param value whole, within 31 bits */
function putHundredths(buffer: Buffer, from: number, value: number): number {
  let end = from
  if (value < 0) buffer[end++] = minus
  const size = value < 0 ? -value : value
  const units = (size / 100) | 0
  const rest = size - units * 100
  end = putDigits(buffer, end, units, 1)
  if (rest === 0) return end
  buffer[end++] = point
  return rest % 10 === 0 ? putDigits(buffer, end, rest / 10, 1) : putDigits(buffer, end, rest, 2)
}

/** @param value whole, of at most nine digits  @param fewest digits, with zeros before them */
function putDigits(buffer: Buffer, from: number, value: number, fewest: number): number {
  let count = fewest
  while (value >= bounds[count]!) count++
  let left = value | 0
  for (let at = from + count - 1; at >= from; at--) {
    const tenth = (left / 10) | 0
    buffer[at] = zero + left - tenth * 10
    left = tenth
  }
  return from + count
}

/** No number with fewer digits is as large. */
const bounds = Array.from({ length: 11 }, (_, count) => 10 ** count)
