/**
 * Readings as columns in one buffer: a batch crosses a thread, waits for the store or is read by several
 * projections as two short lists of names and numbers in a row, and not as thousands of objects,
 * which the collector of garbage would have to copy. A null is NaN in the buffer.
 */
import type { DeviceSignature } from '../core/air/device-signature.ts'
import { quantityNames } from '../core/air/quantities.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { fewestValues, trimmed, type Values } from '../core/air/values.ts'
import type { Hex } from '../core/hex.ts'
import type { StoreRow } from './store-row.ts'

export type Cells = Float64Array<ArrayBuffer>

const columnsBeforeValues: readonly string[] = [
  's',
  'a',
  't',
  'aqi',
  'flags',
  'seq',
  'leaf',
  'backfill',
]
/** Their places in a row: sensor and area are indices of the lists of names. */
export const cellAt = {
  sensor: 0,
  area: 1,
  timeMs: 2,
  aqi: 3,
  flags: 4,
  seq: 5,
  leafVersion: 6,
  isBackfill: 7,
  values: columnsBeforeValues.length,
} as const
/** The columns of `reading`, in the order of a packed row; `device` comes after them. */
export const readingColumns: readonly string[] = [...columnsBeforeValues, ...quantityNames]

/**
 * Rows of `width` cells, which are the first of `readingColumns`: sensor and area (their index), time,
 * aqi, flags, seq, leaf version (NaN: 1), back-fill (1 or NaN), then the values by id, as many as the row has that has most:
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
export type PackedDevice = {
  readonly row: number
  readonly device: Hex
  /** When it is written. */
  readonly signed?: DeviceSignature | undefined
}

/** How many rows. */
export const countOf = ({ cells, width }: PackedReadings): number => cells.length / width

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
  const width = cellAt.values + count
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
    cells[i++] = row.isBackfill === true ? 1 : Number.NaN
    for (let id = 0; id < count; id++) cells[i++] = row.values[id] ?? Number.NaN
    const { device, signed } = row
    if (device !== undefined) devices.push({ row: i / width - 1, device, signed })
  }
  return { sensors: sensors.names, areas: areas.names, width, cells, devices }
}

/** @returns undefined for each row whose sensor is NaN: nothing is stored under that key */
export function unpackReadings(packed: PackedReadings): (StoreRow | undefined)[] {
  const { sensors, areas, width, cells, devices } = packed
  const rows: (StoreRow | undefined)[] = []
  for (let i = 0; i < cells.length; i += width) {
    const sensor = sensors[cells[i + cellAt.sensor]!]
    const area = areas[cells[i + cellAt.area]!]
    rows.push(
      sensor === undefined || area === undefined
        ? undefined
        : {
            sensor,
            area,
            timeMs: cells[i + cellAt.timeMs]!,
            aqi: orNull(cells[i + cellAt.aqi]!),
            flags: cells[i + cellAt.flags]!,
            seq: cells[i + cellAt.seq]!,
            values: valuesIn(cells, i + cellAt.values, i + width),
            ...(cells[i + cellAt.leafVersion] === 2 ? leaf2 : {}),
            ...(cells[i + cellAt.isBackfill] === 1 ? backfill : {}),
          },
    )
  }
  for (const { row, device, signed } of devices) {
    const reading = rows[row]
    if (reading !== undefined) rows[row] = { ...reading, device, ...(signed && { signed }) }
  }
  return rows
}

function valuesIn(cells: Cells, from: number, to: number): Values {
  const values: (number | null)[] = []
  for (let at = from; at < to; at++) values.push(orNull(cells[at]!))
  return trimmed(values)
}

const leaf2 = { leafVersion: 2 } as const
const backfill = { isBackfill: true } as const

export const orNull = (cell: number): number | null => (Number.isNaN(cell) ? null : cell)
