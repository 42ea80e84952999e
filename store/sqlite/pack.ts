/**
 * Readings and keys as one buffer each, so that a batch crosses a thread as two short lists of names
 * and a transfer, not as thousands of objects. A null is NaN in the buffer.
 */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { Reading, ReadingKey } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, trimmed, type Values } from '../../core/air/values.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import type { StoreRow } from '../store.ts'

export type Cells = Float64Array<ArrayBuffer>

const columnsBeforeValues: readonly string[] = ['s', 'a', 't', 'aqi', 'flags', 'seq', 'leaf']
const valuesAt = columnsBeforeValues.length
/** The columns of `reading`, in the order of a packed row; `device` comes after them. */
export const readingColumns: readonly string[] = [...columnsBeforeValues, ...quantityNames]

/**
 * Rows of `width` cells, which are the first of `readingColumns`: sensor and area (their index), time,
 * aqi, flags, seq, leaf version (NaN: 1), then the values by id, as many as the row has that has most:
 * few sensors measure more than the basic five.
 */
export type PackedReadings = {
  readonly sensors: readonly SensorId[]
  readonly areas: readonly string[]
  readonly width: number
  readonly cells: Cells
  /** Of the rows that have one, in the order of the rows. */
  readonly devices: readonly PackedDevice[]
}
type PackedDevice = {
  readonly row: number
  readonly device: Hex
  /** When it is written. */
  readonly signed?: DeviceSignature | undefined
}

/** Rows of two cells: sensor (its index) and time. */
export type PackedKeys = { readonly sensors: readonly SensorId[]; readonly cells: Cells }
export const keyWidth = 2

/** Gives each name a small number, in the order of first use. */
export function nameTable<Name>(): {
  readonly names: Name[]
  readonly indexOf: (n: Name) => number
} {
  const names: Name[] = []
  const indices = new Map<Name, number>()
  const indexOf = (name: Name): number => {
    const known = indices.get(name)
    if (known !== undefined) return known
    indices.set(name, names.length)
    return names.push(name) - 1
  }
  return { names, indexOf }
}

export function packReadings(rows: readonly StoreRow[]): PackedReadings {
  const sensors = nameTable<SensorId>()
  const areas = nameTable<string>()
  const devices: PackedDevice[] = []
  let count: number = fewestValues
  for (const { values } of rows) count = Math.max(count, values.length)
  const width = valuesAt + count
  const cells = new Float64Array(rows.length * width)
  let i = 0
  for (const row of rows) {
    cells[i++] = sensors.indexOf(row.sensor)
    cells[i++] = areas.indexOf(row.area)
    cells[i++] = row.timeMs
    cells[i++] = row.aqi ?? Number.NaN
    cells[i++] = row.flags
    cells[i++] = row.seq
    cells[i++] = row.leafVersion ?? Number.NaN
    for (let id = 0; id < count; id++) cells[i++] = row.values[id] ?? Number.NaN
    const { device, signed } = row
    if (device !== undefined) devices.push({ row: i / width - 1, device, signed })
  }
  return { sensors: sensors.names, areas: areas.names, width, cells, devices }
}

/**
 * Rows as SQLite gives them: `readingColumns`, then the device; undefined where a key has none.
 * @param nameOf the numbers that stand for sensors and areas in the file
 */
export function packRows(
  rows: readonly (readonly unknown[] | undefined)[],
  nameOf: { readonly sensor: (n: number) => SensorId; readonly area: (n: number) => string },
): PackedReadings {
  const sensors = nameTable<number>()
  const areas = nameTable<number>()
  const width = rows.reduce((most, row) => Math.max(most, widthOf(row)), fewestWidth)
  const cells = new Float64Array(rows.length * width)
  const devices: PackedDevice[] = []
  for (const [i, row] of rows.entries()) {
    const at = i * width
    if (row === undefined) {
      cells[at] = Number.NaN
      continue
    }
    cells[at] = sensors.indexOf(numberOf(row[0]))
    cells[at + 1] = areas.indexOf(numberOf(row[1]))
    for (let column = 2; column < width; column++) cells[at + column] = numberOf(row[column])
    const device = row[readingColumns.length]
    if (device instanceof Uint8Array) devices.push({ row: i, device: toHex(device) })
  }
  return {
    sensors: sensors.names.map(nameOf.sensor),
    areas: areas.names.map(nameOf.area),
    width,
    cells,
    devices,
  }
}

const fewestWidth = valuesAt + fewestValues
/** Without the nulls that it ends with. */
const widthOf = (row: readonly unknown[] | undefined): number =>
  (row?.findLastIndex((cell, at) => cell !== null && at < readingColumns.length) ?? -1) + 1

/** A number of SQLite's as a cell: NaN for null. */
export const numberOf = (cell: unknown): number => (typeof cell === 'number' ? cell : Number.NaN)

/** @returns undefined for each row whose sensor is NaN: nothing is stored under that key */
export function unpackReadings(packed: PackedReadings): (Reading | undefined)[] {
  const { sensors, areas, width, cells, devices } = packed
  const rows: (Reading | undefined)[] = []
  for (let i = 0; i < cells.length; i += width) {
    const sensor = sensors[cells[i]!]
    const area = areas[cells[i + 1]!]
    rows.push(
      sensor === undefined || area === undefined
        ? undefined
        : {
            sensor,
            area,
            timeMs: cells[i + 2]!,
            aqi: orNull(cells[i + 3]!),
            flags: cells[i + 4]!,
            seq: cells[i + 5]!,
            values: valuesIn(cells, i + valuesAt, i + width),
            ...(cells[i + 6] === 2 ? leaf2 : {}),
          },
    )
  }
  for (const { row, device } of devices) {
    const reading = rows[row]
    if (reading !== undefined) rows[row] = { ...reading, device }
  }
  return rows
}

function valuesIn(cells: Cells, from: number, to: number): Values {
  const values: (number | null)[] = []
  for (let at = from; at < to; at++) values.push(orNull(cells[at]!))
  return trimmed(values)
}

export function packKeys(keys: readonly ReadingKey[]): PackedKeys {
  const sensors = nameTable<SensorId>()
  const cells = new Float64Array(keys.length * keyWidth)
  let i = 0
  for (const key of keys) {
    cells[i++] = sensors.indexOf(key.sensor)
    cells[i++] = key.timeMs
  }
  return { sensors: sensors.names, cells }
}

const leaf2 = { leafVersion: 2 } as const

export const orNull = (cell: number): number | null => (Number.isNaN(cell) ? null : cell)
