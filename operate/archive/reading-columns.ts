/**
 * The columns of the archive's readings. Quantities are doubles: every tool computes with them, while
 * decimals are slow objects in pandas; the double nearest to a whole number of hundredths gives it back.
 */
import { type DeviceSignature, isSignatureAlgorithm } from '../../core/air/device-signature.ts'
import { fromHundredths, toHundredths } from '../../core/air/hundredths.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, trimmed, type Values } from '../../core/air/values.ts'
import { isHash } from '../../core/hex.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { refuse } from '../exports/check-run.ts'
import type { Cell, Column } from './parquet-table.ts'
import type { Slice } from './table-slices.ts'

/** Of a reading with leaf 1 nothing is archived that its leaf does not hold: nothing would prove it. */
export type ArchivedRow = {
  readonly reading: LeafFields
  readonly batch: number
  /** What its device signed, where it did. */
  readonly signature?: DeviceSignature | undefined
}

type Row = ArchivedRow
const in2 =
  (of: (reading: Extract<LeafFields, { leafVersion: 2 }>) => Cell) =>
  ({ reading }: Row): Cell =>
    reading.leafVersion === 2 ? of(reading) : null
const unit = (hundredths: number | null | undefined): number | null =>
  hundredths === null || hundredths === undefined ? null : fromHundredths(hundredths)

/** In this order; a file has exactly these. Sorted by sensor and time, most repeat from row to row. */
export const readingColumns: readonly Column<Row>[] = [
  { name: 'sensor_id', kind: 'text', isNeeded: true, of: ({ reading }) => reading.sensor },
  { name: 'timestamp', kind: 'time', isNeeded: true, of: ({ reading }) => reading.timeMs },
  { name: 'seq', kind: 'count', isNeeded: true, of: ({ reading }) => reading.seq },
  { name: 'area', kind: 'text', of: in2(({ area }) => area) },
  ...quantityNames.map(
    (name, id): Column<Row> => ({
      name,
      kind: 'number',
      of:
        id < fewestValues
          ? ({ reading }) => unit(reading.values[id])
          : in2(({ values }) => unit(values[id])),
    }),
  ),
  { name: 'aqi', kind: 'int', of: ({ reading }) => reading.aqi },
  { name: 'flags', kind: 'count', of: in2(({ flags }) => flags) },
  // derived from the flags, so a checker compares it with them
  { name: 'quality', kind: 'text', of: in2(({ flags }) => qualityOf(flags)) },
  { name: 'batch', kind: 'int', isNeeded: true, of: ({ batch }) => batch },
  {
    name: 'leaf_version',
    kind: 'int',
    isNeeded: true,
    of: ({ reading }) => reading.leafVersion ?? 1,
  },
  { name: 'device', kind: 'text', of: in2(({ device }) => device ?? null) },
  { name: 'algorithm', kind: 'text', of: ({ signature }) => signature?.algorithm ?? null },
  { name: 'public_key', kind: 'text', of: ({ signature }) => signature?.publicKey ?? null },
  { name: 'signature', kind: 'text', of: ({ signature }) => signature?.signature ?? null },
  { name: 'signed_text', kind: 'text', of: ({ signature }) => signature?.text ?? null },
]

const at = Object.fromEntries(readingColumns.map(({ name }, place) => [name, place]))
const place = (name: string): number => at[name] ?? -1
const [sensorAt, timeAt, seqAt, areaAt] = ['sensor_id', 'timestamp', 'seq', 'area'].map(place)
const [aqiAt, flagsAt, batchAt, leafAt] = ['aqi', 'flags', 'batch', 'leaf_version'].map(place)
const [deviceAt, algorithmAt, keyAt] = ['device', 'algorithm', 'public_key'].map(place)
const [signatureAt, textAt] = ['signature', 'signed_text'].map(place)
const qualityAt = place('quality')
const valuesAt = place('pm25')
const notInLeaf1 = readingColumns.flatMap(({ name }, column) =>
  [
    'area',
    'flags',
    'quality',
    'device',
    'algorithm',
    'public_key',
    'signature',
    'signed_text',
  ].includes(name) ||
  (column >= valuesAt + fewestValues && column < valuesAt + quantityNames.length)
    ? [column]
    : [],
)

/** Of a column by its name, in `readingColumns`. */
export const placeOfColumn = place

/** @param name of the row, for the sentence @throws Refusal */
export function readRow({ cell }: Pick<Slice, 'cell'>, row: number, name: string): ArchivedRow {
  try {
    return rowOf((column) => cell(column, row))
  } catch (error) {
    if (!(error instanceof RowFault)) throw error
    return refuse(`${name} cannot be read: ${error.message}`)
  }
}

/** Why a row is not one, as a sentence's end. */
export class RowFault extends Error {}

/** @param cell of the row, by the place of its column @throws RowFault */
export function rowOf(cell: (column: number) => Cell): ArchivedRow {
  const text = (column = -1): string => {
    const value = cell(column)
    if (typeof value === 'string') return value
    throw new RowFault(`its ${readingColumns[column]?.name} is not a text`)
  }
  const whole = (column = -1): number => {
    const value = cell(column)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw new RowFault(`its ${readingColumns[column]?.name} is not a whole number`)
  }
  const common = {
    // whatever it says, it hashes to what it hashes to
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    sensor: text(sensorAt) as SensorId,
    timeMs: whole(timeAt),
    seq: whole(seqAt),
    values: valuesOf(cell),
    aqi: cell(aqiAt ?? -1) === null ? null : whole(aqiAt),
  }
  const batch = whole(batchAt)
  const version = cell(leafAt ?? -1)
  if (version === 1) {
    const unproven = notInLeaf1.find((column) => cell(column) !== null)
    if (unproven === undefined) return { reading: common, batch }
    throw new RowFault(
      `its leaf is of version 1, which does not hold its ${readingColumns[unproven]?.name}`,
    )
  }
  if (version !== 2)
    throw new RowFault(`its leaf_version is ${String(version)}, and this airproof knows 1 and 2`)
  const [area, flags, device] = [text(areaAt), whole(flagsAt), cell(deviceAt ?? -1)]
  if (cell(qualityAt) !== qualityOf(flags))
    throw new RowFault('its quality is not that of its flags')
  const leaf2 = { ...common, leafVersion: 2, area, flags } as const
  const algorithm = cell(algorithmAt ?? -1)
  if (device === null && algorithm === null) return { reading: leaf2, batch }
  if (typeof device !== 'string' || !isHash(device)) throw new RowFault('its device is not a hash')
  const reading = { ...leaf2, device }
  if (algorithm === null) return { reading, batch }
  if (!isSignatureAlgorithm(algorithm)) throw new RowFault('its algorithm is not a known one')
  const signature = {
    algorithm,
    publicKey: text(keyAt),
    signature: text(signatureAt),
    text: text(textAt),
  }
  return { reading, batch, signature }
}

/** @throws RowFault where one is not a whole number of hundredths */
function valuesOf(cell: (column: number) => Cell): Values {
  const values = quantityNames.map((name, id) => {
    const value = cell(valuesAt + id)
    if (value === null) return null
    const hundredths = typeof value === 'number' ? toHundredths(value) : undefined
    if (hundredths === undefined || fromHundredths(hundredths) !== value)
      throw new RowFault(`its ${name} has more than two decimals`)
    return hundredths
  })
  return trimmed(values)
}
