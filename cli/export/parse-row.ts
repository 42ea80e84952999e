/** The rows of an export, read from its lines by the names of their columns. */
import { type DeviceSignature, isSignatureAlgorithm } from '../../core/air/device-signature.ts'
import { toHundredths } from '../../core/air/hundredths.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { fewestValues, trimmed, type Values } from '../../core/air/values.ts'
import { parseCsv } from '../../core/csv.ts'
import { type Hex, isHash } from '../../core/hex.ts'
import { parseIso } from '../../core/iso-time.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import type { RowFormat } from '../../operate/exports/manifest-schema.ts'
import {
  type Cells,
  columns,
  type ExportedRow,
  ofLeaf2,
  ofSignature,
  others,
  rowText,
  textColumns,
} from './row-line.ts'

/**
 * Reads the lines of one file. @param head its first line; of ndjson nothing is needed
 * @param corrected the columns of corrected values, as the manifest names their models
 * @returns for each line the row, or as a sentence why there is none
 */
export function rowParser(
  format: RowFormat,
  head: string,
  corrected: readonly string[] = [],
): (line: string) => ExportedRow | string {
  const [names = []] = format === 'csv' ? parseCsv(head) : []
  const fault = format === 'csv' ? headFault(head, names) : undefined
  return (line) => {
    if (fault !== undefined) return fault
    const cells = format === 'csv' ? csvCells(line, names) : jsonCells(line)
    if (typeof cells === 'string') return cells
    try {
      const row = { ...rowOf(cells, corrected), ...correctedOf(cells, corrected) }
      // readers differ on what is written in another way, and would take other values from it
      return rowText(row, format, names) === line ? row : notAsWritten
    } catch (error) {
      if (error instanceof RowFault) return error.message
      throw error
    }
  }
}

const notAsWritten = 'it is not written as an export writes its values'

function headFault(head: string, names: readonly string[]): string | undefined {
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) return `the first line names the column ${twice} twice`
  return names.join(',') === head ? undefined : 'the first line is not one of names of columns'
}

class RowFault extends Error {}

function jsonCells(line: string): Cells | string {
  try {
    const value: unknown = JSON.parse(line)
    // whatever is in it is looked at below
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (typeof value === 'object' && value !== null) return value as Cells
  } catch {
    // said below
  }
  return 'it is not an object of JSON'
}

/** @param names of the columns, as the file's head has them: an older export has fewer */
function csvCells(line: string, names: readonly string[]): Cells | string {
  const [cells = []] = parseCsv(line)
  if (cells.length !== names.length)
    return `it has ${cells.length} values, and the first line names ${names.length} columns`
  return Object.fromEntries(
    names.map((name, at) => {
      const cell = cells[at] ?? ''
      if (textColumns.includes(name)) return [name, name === 'signed_text' ? inLines(cell) : cell]
      return [name, cell === '' ? null : Number(cell)]
    }),
  )
}

const inLines = (cell: string): string => cell.replaceAll('\\n', '\n')

/** @throws RowFault */
function rowOf(cells: Cells, corrected: readonly string[]): ExportedRow {
  const time = parseIso(text(cells, 'timestamp'))
  if (!('timeMs' in time)) throw new RowFault('its timestamp is not a time')
  const hash = text(cells, 'hash')
  if (!isHash(hash)) throw new RowFault('its hash is not one')
  const common = {
    // whatever it says, it hashes to what it hashes to
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    sensor: text(cells, 'sensor_id') as LeafFields['sensor'],
    timeMs: time.timeMs,
    seq: whole(cells, 'seq'),
    values: valuesOf(cells),
    aqi: wholeOrNull(cells, 'aqi'),
  }
  const batch = wholeOrNull(cells, 'batch')
  if (leafVersionOf(cells, corrected) === 1) return { reading: common, hash, batch }
  const { device, signature } = deviceOf(cells)
  const [area, flags] = [text(cells, 'area'), whole(cells, 'flags')]
  return {
    reading: { ...common, leafVersion: 2, area, flags, ...(device !== undefined && { device }) },
    hash,
    batch,
    ...(signature !== undefined && { signature }),
  }
}

const isKnown = new Set(columns[2])
const notInLeaf1 = [...ofLeaf2, ...ofSignature, ...others].filter((name) => name !== 'leaf_version')

/** @throws RowFault where a column is left out, or has no number */
function correctedOf(cells: Cells, columnNames: readonly string[]): Pick<ExportedRow, 'corrected'> {
  if (columnNames.length === 0) return {}
  const corrected = columnNames.map((name) => {
    const value = cells[name]
    if (value === undefined) throw new RowFault(missing(name))
    if (typeof value === 'string') throw new RowFault(`its value of ${name} is not a number`)
    return [name, value] as const
  })
  return { corrected: Object.fromEntries(corrected) }
}

/** Whatever is in the row beside what its leaf holds would be believed, and nothing proves it. */
function leafVersionOf(cells: Cells, corrected: readonly string[]): 1 | 2 {
  const version = cells['leaf_version'] ?? 1
  if (version !== 1 && version !== 2)
    throw new RowFault(`its leaf_version is ${version}, and this airproof knows 1 and 2`)
  if (version === 1) {
    const unproven = notInLeaf1.find((name) => !isEmpty(cells[name]))
    if (unproven === undefined) return version
    throw new RowFault(`its leaf is of version 1, which does not hold its ${unproven}`)
  }
  const unknown = Object.keys(cells).find(
    (name) => !isKnown.has(name) && !corrected.includes(name) && !isEmpty(cells[name]),
  )
  if (unknown === undefined) return version
  throw new RowFault(
    `it has a value ${unknown}, which this airproof does not know: check it with the airproof that wrote it, or a later one`,
  )
}

function deviceOf(cells: Cells): {
  readonly device?: Hex
  readonly signature?: DeviceSignature
} {
  const { device, algorithm } = cells
  if (isEmpty(device)) {
    const stray = ofSignature.find((name) => !isEmpty(cells[name]))
    if (stray === undefined) return {}
    throw new RowFault(`its ${stray} is there without its device, which is a hash over it`)
  }
  if (typeof device !== 'string' || !isHash(device)) throw new RowFault('its device is not a hash')
  if (ofSignature.every((name) => isEmpty(cells[name]))) return { device }
  if (!isSignatureAlgorithm(algorithm)) throw new RowFault('its algorithm is not a known one')
  const [publicKey, signature] = [text(cells, 'public_key'), text(cells, 'signature')]
  return {
    device,
    signature: { algorithm, publicKey, signature, text: text(cells, 'signed_text') },
  }
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/** @throws RowFault unless the column is there, and a text */
function text(cells: Cells, name: string): string {
  const value = cells[name]
  if (typeof value === 'string') return value
  throw new RowFault(value === undefined ? missing(name) : `its value of ${name} is not a text`)
}

const missing = (name: string): string => `it has no ${name}`

function whole(cells: Cells, name: string): number {
  const value = wholeOrNull(cells, name)
  if (value === null) throw new RowFault(missing(name))
  return value
}

function wholeOrNull(cells: Cells, name: string): number | null {
  const value = cells[name] ?? null
  if (value === null) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new RowFault(`its value of ${name} is not a whole number`)
}

/** @throws RowFault where one is neither a value nor missing, or one of the five is left out */
function valuesOf(cells: Cells): Values {
  const values = quantityNames.map((name, id) => {
    const value = id < fewestValues ? cells[name] : (cells[name] ?? null)
    if (value === undefined) throw new RowFault(missing(name))
    const hundredths = value === null ? null : hundredthsOf(value)
    if (hundredths === undefined) throw new RowFault(`its value of ${name} is not a number`)
    return hundredths
  })
  return trimmed(values)
}

const hundredthsOf = (value: string | number): number | undefined =>
  typeof value === 'number' ? toHundredths(value) : undefined
