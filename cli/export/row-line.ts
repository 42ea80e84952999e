/** A row of an export as one line, and back: enough of a reading to make its leaf from. */
import { fromHundredths, toHundredths } from '../../core/air/hundredths.ts'
import { type MeasurementName, measurementNames } from '../../core/air/reading.ts'
import { type Hex, isHash } from '../../core/hex.ts'
import { formatIso, parseIso } from '../../core/iso-time.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { parseCsv } from '../shell/csv.ts'
import type { RowFormat } from './export-manifest.ts'

export type ExportedRow = {
  readonly reading: LeafFields
  readonly hash: Hex
  /** null: in no batch that is final. */
  readonly batch: number | null
}

const columns = [
  'sensor_id',
  'timestamp',
  'seq',
  ...measurementNames,
  'aqi',
  'hash',
  'batch',
] as const

type Cells = Readonly<Record<(typeof columns)[number], string | number | null>>

/** What stands before the first row. */
export const headOf = (format: RowFormat): string =>
  format === 'csv' ? `${columns.join(',')}\r\n` : ''

export function rowLine(row: ExportedRow, format: RowFormat): string {
  const cells = cellsOf(row)
  return format === 'ndjson'
    ? `${JSON.stringify(cells)}\n`
    : `${columns.map((name) => cells[name] ?? '').join(',')}\r\n`
}

function cellsOf({ reading, hash, batch }: ExportedRow): Cells {
  const value = (name: MeasurementName): number | null => {
    const hundredths = reading[name]
    return hundredths === null ? null : fromHundredths(hundredths)
  }
  return {
    sensor_id: reading.sensor,
    timestamp: formatIso(reading.timeMs),
    seq: reading.seq,
    pm25: value('pm25'),
    pm10: value('pm10'),
    co2: value('co2'),
    temperature: value('temperature'),
    humidity: value('humidity'),
    aqi: reading.aqi,
    hash,
    batch,
  }
}

/** @param line without its end @returns undefined where it is no row of an export */
export function parseRowLine(line: string, format: RowFormat): ExportedRow | undefined {
  const cells = format === 'ndjson' ? jsonCells(line) : csvCells(line)
  return cells && rowOf(cells)
}

function jsonCells(line: string): Partial<Cells> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function csvCells(line: string): Partial<Cells> | undefined {
  const [cells = []] = parseCsv(line)
  if (cells.length !== columns.length) return undefined
  return Object.fromEntries(
    columns.map((name, at) => {
      const cell = cells[at] ?? ''
      const isText = name === 'sensor_id' || name === 'timestamp' || name === 'hash'
      return [name, isText ? cell : cell === '' ? null : Number(cell)]
    }),
  )
}

function rowOf(cells: Partial<Cells>): ExportedRow | undefined {
  const { sensor_id: sensor, timestamp, seq, aqi = null, hash, batch = null } = cells
  if (typeof sensor !== 'string' || typeof timestamp !== 'string' || typeof hash !== 'string')
    return undefined
  const time = parseIso(timestamp)
  if (!('timeMs' in time) || !isWhole(seq) || !isHash(hash)) return undefined
  if ((aqi !== null && !isWhole(aqi)) || (batch !== null && !isWhole(batch))) return undefined
  const values = measurementNames.map((name) => valueOf(cells[name]))
  const [pm25, pm10, co2, temperature, humidity] = values
  if (
    pm25 === undefined ||
    pm10 === undefined ||
    co2 === undefined ||
    temperature === undefined ||
    humidity === undefined
  )
    return undefined
  return {
    reading: {
      // whatever it says, it hashes to what it hashes to
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: sensor as LeafFields['sensor'],
      timeMs: time.timeMs,
      seq,
      pm25,
      pm10,
      co2,
      temperature,
      humidity,
      aqi,
    },
    hash,
    batch,
  }
}

const isWhole = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** @returns hundredths; undefined where it is neither a value nor missing */
function valueOf(value: string | number | null | undefined): number | null | undefined {
  if (value === null) return null
  return typeof value === 'number' ? toHundredths(value) : undefined
}
