/**
 * Readings, keys and statistics as one buffer each, so that a batch crosses a thread as two short
 * lists of names and a transfer, not as thousands of objects. A null is NaN in the buffer.
 */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { Reading, ReadingKey } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, trimmed, type Values } from '../../core/air/values.ts'
import type { Hex } from '../../core/hex.ts'
import { areaStats, statFields, statNames } from '../stat-fields.ts'
import type { AreaStats, FieldStats, StoreRow } from '../store.ts'

type Cells = Float64Array<ArrayBuffer>

/**
 * Rows of `width` cells: sensor and area (their index), time, aqi, flags, seq, leaf version (NaN: 1),
 * then the values by id, as many as the row has that has most: few sensors measure more than the basic
 * five.
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
export const valuesAt = 7

/** Rows of two cells: sensor (its index) and time. */
export type PackedKeys = { readonly sensors: readonly SensorId[]; readonly cells: Cells }
export const keyWidth = 2

/** Rows of `statsWidth` cells: area (its index), start, readings, then each field's statistics. */
export type PackedStats = { readonly areas: readonly string[]; readonly cells: Cells }
export const statsHead = 3
export const statsWidth = statsHead + statFields.length * statNames.length

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

export function packStats(rows: readonly AreaStats[]): PackedStats {
  const areas = nameTable<string>()
  const cells = new Float64Array(rows.length * statsWidth)
  let i = 0
  for (const row of rows) {
    cells[i++] = areas.indexOf(row.area)
    cells[i++] = row.startMs
    cells[i++] = row.readings
    for (const field of statFields) {
      for (const name of statNames) cells[i++] = row.fields[field][name] ?? Number.NaN
    }
  }
  return { areas: areas.names, cells }
}

export function unpackStats({ areas, cells }: PackedStats): AreaStats[] {
  const rows: AreaStats[] = []
  for (let i = 0; i < cells.length; i += statsWidth) {
    const fieldStats = (at: number): FieldStats => ({
      n: cells[at]!,
      mean: orNull(cells[at + 1]!),
      min: orNull(cells[at + 2]!),
      max: orNull(cells[at + 3]!),
      p50: orNull(cells[at + 4]!),
      p98: orNull(cells[at + 5]!),
    })
    const start = i + statsHead
    rows.push(
      areaStats(areas[cells[i]!] ?? '', cells[i + 1]!, cells[i + 2]!, (field) =>
        fieldStats(start + statFields.indexOf(field) * statNames.length),
      ),
    )
  }
  return rows
}

const leaf2 = { leafVersion: 2 } as const

const orNull = (cell: number): number | null => (Number.isNaN(cell) ? null : cell)
