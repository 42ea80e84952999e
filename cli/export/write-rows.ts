import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Reading } from '../../core/air/reading.ts'
import { toHex } from '../../core/hex.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import { codeOf, MustAct } from '../../runtime/exit.ts'
import type { RowFormat } from './export-manifest.ts'
import { headOf, rowLine } from './row-line.ts'

export type WrittenRows = {
  readonly count: number
  readonly notAnchored: number
  readonly sha256: string
  /** By batch: the leaves of its rows. */
  readonly touched: ReadonlyMap<number, readonly Uint8Array[]>
}

type Options = {
  readonly file: string
  readonly format: RowFormat
  readonly pages: AsyncIterable<readonly Reading[]>
  readonly holding: (seq: number) => number | undefined
  readonly keccak: Keccak
  readonly onRows: (count: number) => void
}

/** Writes the rows, each with its hash and its batch. @throws MustAct where the file is there */
export async function writeRows(options: Options): Promise<WrittenRows> {
  const { format, pages, holding, onRows } = options
  const leafOf = leafEncoder(options.keccak)
  const digest = createHash('sha256')
  const touched = new Map<number, Uint8Array[]>()
  let [count, notAnchored] = [0, 0]
  await using file = await openNew(options.file)
  const write = async (text: string): Promise<void> => {
    digest.update(text)
    await file.appendFile(text)
  }
  await write(headOf(format))
  for await (const page of pages) {
    let text = ''
    for (const reading of page) {
      const leaf = leafOf(reading)
      const batch = holding(reading.seq)
      if (batch === undefined) notAnchored++
      else touched.set(batch, touched.get(batch) ?? [])
      if (batch !== undefined) touched.get(batch)?.push(leaf)
      text += rowLine({ reading, hash: toHex(leaf), batch: batch ?? null }, format)
    }
    count += page.length
    await write(text)
    onRows(count)
  }
  return { count, notAnchored, sha256: digest.digest('hex'), touched }
}

/** @throws MustAct where something of that name is there: nothing is written over */
export async function openNew(file: string) {
  try {
    return await open(file, 'wx')
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause
    throw new MustAct(`${file} is there already: choose another name with --out`, { cause })
  }
}
