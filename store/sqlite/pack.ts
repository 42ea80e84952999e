/** What crosses to SQLite's threads and back: keys, and rows as the file has them. */
import type { ReadingKey } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues } from '../../core/air/values.ts'
import { toHex } from '../../core/hex.ts'
import {
  type Cells,
  cellAt,
  nameTable,
  type PackedDevice,
  type PackedReadings,
  readingColumns,
} from '../packed-readings.ts'

/** Rows of two cells: sensor (its index) and time. */
export type PackedKeys = { readonly sensors: readonly SensorId[]; readonly cells: Cells }
export const keyWidth = 2

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

const fewestWidth = cellAt.values + fewestValues
/** Without the nulls that it ends with. */
const widthOf = (row: readonly unknown[] | undefined): number =>
  (row?.findLastIndex((cell, at) => cell !== null && at < readingColumns.length) ?? -1) + 1

/** A number of SQLite's as a cell: NaN for null. */
export const numberOf = (cell: unknown): number => (typeof cell === 'number' ? cell : Number.NaN)

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
