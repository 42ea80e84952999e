/** A row of an export as one line: enough of a reading to make its leaf from. */
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { basicNames, quantityNames } from '../../core/air/quantities.ts'
import { fewestValues, measurementsOf, type Values } from '../../core/air/values.ts'
import type { Hex } from '../../core/hex.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import type { ExportVersion, RowFormat } from '../../operate/exports/manifest-schema.ts'

export type ExportedRow = {
  readonly reading: LeafFields
  readonly hash: Hex
  /** null: in no batch that is final. */
  readonly batch: number | null
  /** What its device signed, where it did. */
  readonly signature?: DeviceSignature
  /** By column: what corrections make of the values; null: nothing. */
  readonly corrected?: Readonly<Record<string, number | null>>
}

/** The values that a leaf of version 1 does not hold. */
export const others = quantityNames.slice(fewestValues)
/** What is not of the basic five comes last, so that no column of an older export has moved. */
const columns1: readonly string[] = ['sensor_id', 'timestamp', 'seq'].concat(
  basicNames,
  ['aqi', 'hash', 'batch'],
  others,
)
/** What a leaf of version 2 has more; of a row with leaf 1 all are empty. */
export const ofLeaf2 = ['leaf_version', 'area', 'flags', 'device']
export const ofSignature = ['algorithm', 'public_key', 'signature', 'signed_text']
export const columns: Readonly<Record<ExportVersion, readonly string[]>> = {
  1: columns1,
  2: [...columns1, ...ofLeaf2, ...ofSignature],
}
export const textColumns = ['sensor_id', 'timestamp', 'hash', 'area', 'device', ...ofSignature]

export type Cells = Readonly<Record<string, string | number | null | undefined>>

/** @param version of an export that is to hold every row that follows @param corrected its last columns */
const allColumns = (version: ExportVersion, corrected: readonly string[]): readonly string[] => [
  ...columns[version],
  ...corrected,
]

/** The first line. */
export const headOf = (
  format: RowFormat,
  version: ExportVersion,
  corrected: readonly string[] = [],
): string => (format === 'csv' ? `${allColumns(version, corrected).join(',')}\r\n` : '')

export const rowLine = (row: ExportedRow, format: RowFormat, version: ExportVersion): string =>
  rowText(row, format, allColumns(version, Object.keys(row.corrected ?? {}))) +
  (format === 'csv' ? '\r\n' : '\n')

/** The one way to write a row, without the end of its line. @param names of the columns, for CSV */
export function rowText(row: ExportedRow, format: RowFormat, names: readonly string[]): string {
  const cells = cellsOf(row)
  return format === 'ndjson'
    ? JSON.stringify(cells)
    : names.map((name) => csvCell(cells[name])).join(',')
}

/** Of the values only those that the leaf holds: nothing would prove the others. */
export const valuesIn = ({ values, leafVersion }: LeafFields): Values =>
  leafVersion === 2 ? values : values.slice(0, fewestValues)

const cellsOf = (row: ExportedRow): Cells => ({
  sensor_id: row.reading.sensor,
  timestamp: formatIso(row.reading.timeMs),
  seq: row.reading.seq,
  ...measurementsOf(valuesIn(row.reading)),
  aqi: row.reading.aqi,
  hash: row.hash,
  batch: row.batch,
  ...moreOfLeaf2(row),
  ...row.corrected,
})

function moreOfLeaf2({ reading, signature }: ExportedRow): Cells {
  if (reading.leafVersion !== 2) return {}
  const { leafVersion, area, flags, device } = reading
  return {
    leaf_version: leafVersion,
    area,
    flags,
    ...(device !== undefined && { device }),
    ...(signature !== undefined && {
      algorithm: signature.algorithm,
      public_key: signature.publicKey,
      signature: signature.signature,
      signed_text: signature.text,
    }),
  }
}

/** A row is one line: line feeds, which only a signed text has, are written as `\n`. */
function csvCell(value: string | number | null | undefined): string {
  const text = String(value ?? '').replaceAll('\n', '\\n')
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
