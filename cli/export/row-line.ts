/** A row of an export as one line, and back: enough of a reading to make its leaf from. */
import { toHundredths } from '../../core/air/hundredths.ts'
import { basicNames, quantityNames } from '../../core/air/quantities.ts'
import { fewestValues, measurementsOf, trimmed, type Values } from '../../core/air/values.ts'
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

const others = quantityNames.slice(fewestValues)
/** What is not of the basic five comes last, so that no column of an older export has moved. */
const columns: readonly string[] = ['sensor_id', 'timestamp', 'seq'].concat(
  basicNames,
  ['aqi', 'hash', 'batch'],
  others,
)
const texts = ['sensor_id', 'timestamp', 'hash']

type Cells = Readonly<Record<string, string | number | null | undefined>>

/** What stands before the first row. */
export const headOf = (format: RowFormat): string =>
  format === 'csv' ? `${columns.join(',')}\r\n` : ''

export function rowLine(row: ExportedRow, format: RowFormat): string {
  const cells = cellsOf(row)
  return format === 'ndjson'
    ? `${JSON.stringify(cells)}\n`
    : `${columns.map((name) => cells[name] ?? '').join(',')}\r\n`
}

const cellsOf = ({ reading, hash, batch }: ExportedRow): Cells => ({
  sensor_id: reading.sensor,
  timestamp: formatIso(reading.timeMs),
  seq: reading.seq,
  ...measurementsOf(reading.values),
  aqi: reading.aqi,
  hash,
  batch,
})

/** Reads the lines of one file. @param head its first line; of ndjson nothing is needed */
export function rowParser(
  format: RowFormat,
  head: string,
): (line: string) => ExportedRow | undefined {
  if (format === 'ndjson') return (line) => rowOf(jsonCells(line))
  const [names = []] = parseCsv(head)
  return (line) => rowOf(csvCells(line, names))
}

function jsonCells(line: string): Cells | undefined {
  try {
    const value: unknown = JSON.parse(line)
    // whatever is in it is looked at below
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return typeof value === 'object' && value !== null ? (value as Cells) : undefined
  } catch {
    return undefined
  }
}

/** @param names of the columns, as the file's head has them: an older export has fewer */
function csvCells(line: string, names: readonly string[]): Cells | undefined {
  const [cells = []] = parseCsv(line)
  if (cells.length !== names.length) return undefined
  return Object.fromEntries(
    names.map((name, at) => {
      const cell = cells[at] ?? ''
      return [name, texts.includes(name) ? cell : cell === '' ? null : Number(cell)]
    }),
  )
}

function rowOf(cells: Cells | undefined): ExportedRow | undefined {
  if (cells === undefined) return undefined
  const { sensor_id: sensor, timestamp, seq, aqi = null, hash, batch = null } = cells
  if (typeof sensor !== 'string' || typeof timestamp !== 'string' || typeof hash !== 'string')
    return undefined
  const time = parseIso(timestamp)
  if (!('timeMs' in time) || !isWhole(seq) || !isHash(hash)) return undefined
  if ((aqi !== null && !isWhole(aqi)) || (batch !== null && !isWhole(batch))) return undefined
  const values = valuesOf(cells)
  if (values === undefined) return undefined
  return {
    reading: {
      // whatever it says, it hashes to what it hashes to
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      sensor: sensor as LeafFields['sensor'],
      timeMs: time.timeMs,
      seq,
      values,
      aqi,
    },
    hash,
    batch,
  }
}

const isWhole = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** @returns undefined where one is neither a value nor missing, or one of the five is left out */
function valuesOf(cells: Cells): Values | undefined {
  const values: (number | null)[] = []
  for (const [id, name] of quantityNames.entries()) {
    const value = hundredthsOf(id < fewestValues ? cells[name] : (cells[name] ?? null))
    if (value === undefined) return undefined
    values.push(value)
  }
  return trimmed(values)
}

function hundredthsOf(value: string | number | null | undefined): number | null | undefined {
  if (value === null) return null
  return typeof value === 'number' ? toHundredths(value) : undefined
}
