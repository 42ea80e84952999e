import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import type { ExportVersion, RowFormat } from '../../operate/exports/manifest-schema.ts'
import type { SignatureOf } from '../../operate/proofs/make-bundle.ts'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { columnOf, correctedRow } from './corrected-columns.ts'
import type { RowLeaf } from './leaf-book.ts'
import { headOf, rowLine } from './row-line.ts'

export type WrittenRows = {
  /** 2 if a row has a leaf of version 2. */
  readonly version: ExportVersion
  readonly count: number
  readonly notAnchored: number
  /** Signed by their devices, and the store has no signature of them. */
  readonly lostSignatures: number
  readonly sha256: string
  /** By batch: the leaves of its rows. */
  readonly touched: ReadonlyMap<number, readonly RowLeaf[]>
}

type Options = {
  readonly file: string
  readonly format: RowFormat
  /** From the first row, each time. */
  readonly pages: () => AsyncIterable<readonly Reading[]>
  readonly holding: (seq: number) => number | undefined
  readonly signatureOf: SignatureOf
  /** The models whose values are beside the raw ones. */
  readonly corrections?: readonly Correction[]
  /** Make and model of a sensor. */
  readonly kindOf?: (sensor: SensorId) => string | undefined
  readonly keccak: Keccak
  readonly onRows: (count: number) => void
}

/** Writes the rows, each with its hash and its batch. @throws MustAct where the file is there */
export async function writeRows(options: Options): Promise<WrittenRows> {
  await using file = await openNew(options.file)
  for (const columnsOf of [1, 2] as const) {
    const written = await writeAs(columnsOf, file, options)
    if (written !== undefined) return written
    await file.truncate()
  }
  throw new Error('a row has no place in any version of an export')
}

/** @returns undefined where a row needs columns that version 1 has not: CSV has named them by then */
async function writeAs(
  columnsOf: ExportVersion,
  file: FileHandle,
  options: Options,
): Promise<WrittenRows | undefined> {
  const { format, pages, holding, signatureOf, keccak, onRows } = options
  const { corrections = [], kindOf = () => undefined } = options
  const leafOf = leafEncoder(keccak)
  const digest = createHash('sha256')
  const touched = new Map<number, RowLeaf[]>()
  let version: ExportVersion = 1
  let [count, notAnchored, lostSignatures] = [0, 0, 0]
  const write = async (text: string): Promise<void> => {
    digest.update(text)
    await file.appendFile(text)
  }
  await write(headOf(format, columnsOf, corrections.map(columnOf)))
  for await (const page of pages()) {
    const signatures = await signaturesOf(page, signatureOf)
    let text = ''
    for (const reading of page) {
      if (reading.leafVersion === 2) {
        if (format === 'csv' && columnsOf === 1) return undefined
        version = 2
      }
      const [hash, batch] = [leafOf(reading), holding(reading.seq) ?? null]
      if (batch === null) notAnchored++
      else {
        const leaf = { hash, seq: reading.seq }
        const group = touched.get(batch)
        if (group === undefined) touched.set(batch, [leaf])
        else group.push(leaf)
      }
      const signature = signatures.get(reading)
      if (reading.device !== undefined && signature === undefined) lostSignatures++
      const row = { reading, hash: toHex(hash), batch, ...(signature && { signature }) }
      const better = correctedRow(corrections, reading, kindOf(reading.sensor))
      text += rowLine({ ...row, ...better }, format, columnsOf)
    }
    count += page.length
    await write(text)
    onRows(count)
  }
  return { version, count, notAnchored, lostSignatures, sha256: digest.digest('hex'), touched }
}

/** Each is a request of its own to the store. */
const signaturesAtOnce = 16

async function signaturesOf(page: readonly Reading[], signatureOf: SignatureOf) {
  const signatures = new Map<Reading, DeviceSignature | undefined>()
  const signed = page.filter(({ device }) => device !== undefined)
  await inParallel(signed, signaturesAtOnce, async (reading) => {
    signatures.set(reading, await signatureOf(reading))
  })
  return signatures
}

/** @throws MustAct where something of that name is there: nothing is written over */
export async function openNew(file: string) {
  try {
    return await open(file, 'ax')
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause
    throw new MustAct(`${file} is there already: choose another name with --out`, { cause })
  }
}
