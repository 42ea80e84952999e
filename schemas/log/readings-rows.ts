/** The rows of a READINGS message, readings and signatures: schema, writer and reader of each version. */

import { type DeviceSignature, signatureAlgorithms } from '../../core/air/device-signature.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, trimmed } from '../../core/air/values.ts'
import { type Hex, isHash } from '../../core/hex.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { assertKnownQuantities } from './unknown-quantities.ts'

export const integer = { type: 'integer' } as const
export const integerOrNull = { type: ['integer', 'null'] } as const
export const text = { type: 'string' } as const
const value = { ...integerOrNull, description: 'hundredths; null: not measured' } as const

const place = [
  text, // sensor
  text, // area
  { ...integer, description: 'timeMs' },
  { ...integer, description: 'arrivedMs: broker time of the raw message' },
] as const
const aqi = integerOrNull
const flags = { ...integer, description: 'flags' } as const

/** What a row holds after its first cells. */
export type Columns = Omit<ArrivedReading, 'seq' | 'leafVersion' | 'device' | 'signed'>
type Numbered = Columns & { readonly seq: number; readonly leafVersion?: 2 }

/** A row is read and written in one step: a list in between would cost a reading 0.1 µs. */
export type Rows<Row extends readonly unknown[]> = {
  /** @param first the cell before the columns */
  readonly write: (first: number, reading: Columns) => readonly unknown[]
  /** @param row with one cell before the columns  @param seq what that cell says */
  readonly read: (row: readonly [number, ...Row], seq: number) => Numbered
}

type Cell = number | null
type Place = readonly [sensor: string, area: string, timeMs: number, arrivedMs: number]
export type RowV1 = readonly [...Place, Cell, Cell, Cell, Cell, Cell, aqi: Cell, flags: number]
export type RowV2 = readonly [...Place, aqi: Cell, flags: number, values: Cell[]]

// only workers write messages of the log, and they write checked ids
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const idOf = (sensor: string): SensorId => sensor as SensorId

/** The basic five, in its middle: what 0.1 wrote. */
export const rowsV1 = {
  items: [...place, value, value, value, value, value, aqi, flags],
  write: (first: number, r: Columns) => [
    first,
    r.sensor,
    r.area,
    r.timeMs,
    r.arrivedMs,
    ...r.values.slice(0, fewestValues),
    r.aqi,
    r.flags,
  ],
  read: (row: readonly [number, ...RowV1], seq: number): Numbered => ({
    sensor: idOf(row[1]),
    area: row[2],
    timeMs: row[3],
    arrivedMs: row[4],
    values: [row[5], row[6], row[7], row[8], row[9]],
    aqi: row[10],
    flags: row[11],
    seq,
  }),
} as const

/** Values as a list by the ids of the table, which may grow without another version. */
export const rowsV2 = {
  items: [
    ...place,
    aqi,
    flags,
    {
      type: 'array',
      items: value,
      minItems: fewestValues,
      description: 'values by id; what the list ends before was not measured',
    },
  ],
  write: (first: number, r: Columns) => [
    first,
    r.sensor,
    r.area,
    r.timeMs,
    r.arrivedMs,
    r.aqi,
    r.flags,
    r.values,
  ],
  // copied: instances below format level 3 alone write these
  read: (row: readonly [number, ...RowV2], seq: number): Numbered => {
    const { leafVersion: _, ...reading } = readWithLeaf2(row, seq)
    return reading
  },
} as const

/** The same row; a reading of it has leaf 2. */
export const rowsV3 = { ...rowsV2, read: readWithLeaf2 } as const

/** One literal, since a copy of each reading would cost the pipeline 0.1 µs. */
function readWithLeaf2(row: readonly [number, ...RowV2], seq: number): Numbered {
  const values = row[7]
  assertKnownQuantities('readings', values.length)
  return {
    sensor: idOf(row[1]),
    area: row[2],
    timeMs: row[3],
    arrivedMs: row[4],
    values: trimmed(values),
    aqi: row[5],
    flags: row[6],
    seq,
    leafVersion: 2,
  }
}

/**
 * A row of the list of signatures, which names a reading by its place in the message's list. They are
 * a list of their own, so that other readings pay nothing.
 */
export const signedItems = [
  { type: 'integer', description: 'place in the list' },
  { ...text, description: 'device: keccak256(algorithm ‖ public key ‖ signature), 0x and hex' },
  { enum: Object.keys(signatureAlgorithms), description: 'algorithm' },
  { ...text, description: 'public key, base64' },
  { ...text, description: 'signature, base64' },
  { ...text, description: 'what was signed' },
] as const

export type SignedRow = readonly [
  place: number,
  device: string,
  algorithm: DeviceSignature['algorithm'],
  publicKey: string,
  signature: string,
  text: string,
]

export type Signed = { readonly device?: Hex; readonly signed?: DeviceSignature }

export function signedRows(readings: readonly Signed[]): SignedRow[] {
  const rows: SignedRow[] = []
  for (let place = 0; place < readings.length; place++) {
    const { device, signed } = readings[place]!
    if (device === undefined || signed === undefined) continue
    const { algorithm, publicKey, signature } = signed
    rows.push([place, device, algorithm, publicKey, signature, signed.text])
  }
  return rows
}

/** @throws SyntaxError a row is not that of a reading of the list */
export function addSignatures<Reading extends Signed>(
  readings: readonly Reading[],
  rows: readonly SignedRow[],
): readonly Reading[] {
  if (rows.length === 0) return readings
  const added = [...readings]
  for (const [place, device, algorithm, publicKey, signature, signedText] of rows) {
    const reading = added[place]
    if (reading === undefined || reading.signed !== undefined || !isHash(device))
      throw new SyntaxError(`signature ${device} is not that of a reading of the message`)
    added[place] = {
      ...reading,
      device,
      signed: { algorithm, publicKey, signature, text: signedText },
    }
  }
  return added
}
