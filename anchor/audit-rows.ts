/**
 * Rows against what was anchored: each row's leaf, made from its values, must be among the leaves of
 * the batch that has its number; and where all rows are given, each leaf must be that of a row.
 */
import type { BatchHeader } from '../core/header.ts'
import { formatIso } from '../core/iso-time.ts'
import { type Keccak, leafEncoder } from '../core/leaf.ts'
import { nOfSeq, partitionOfSeq, type Reading } from '../core/reading.ts'
import { tileLeaves } from '../core/tiles.ts'
import type { BatchBlobs } from '../runtime/batch-blobs.ts'
import { type BlobTop, tileOf } from '../schemas/batch-blob.ts'
import type { Findings } from './audit-findings.ts'

/** What the leaf is made of. */
export type AuditedRow = Omit<Reading, 'area' | 'flags'>

export type RowCheck = {
  readonly add: (rows: readonly AuditedRow[]) => Promise<void>
  readonly report: () => RowReport
  /** Call it once, after all rows there are. */
  readonly findMissing: () => void
}

export type RowReport = {
  readonly looked_at: number
  readonly fit: number
  /** In no batch yet. */
  readonly not_anchored: number
  /** In a batch before the first one that is looked at. */
  readonly before: number
}

type Options = {
  /** In order, without a gap. */
  readonly headers: readonly BatchHeader[]
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
  readonly findings: Findings
  /** Every row comes once: one that comes again is there twice. */
  readonly isAll: boolean
}

/** Batches whose leaves are held at once; rows come by time, and so do batches. */
const mostOpen = 32

export function checkRows({ headers, blobs, keccak, findings, isAll }: Options): RowCheck {
  const leafOf = leafEncoder(keccak)
  const seen = new Map<number, Uint8Array>()
  const opened = new Map<number, Promise<OpenBlob>>()
  const counts = { looked_at: 0, fit: 0, not_anchored: 0, before: 0 }

  const open = (index: number): Promise<OpenBlob> => {
    const blob = opened.get(index) ?? openBlob(blobs, index)
    opened.delete(index)
    opened.set(index, blob)
    const [oldest] = opened.keys()
    if (opened.size > mostOpen && oldest !== undefined) opened.delete(oldest)
    return blob
  }

  const addRow = async (row: AuditedRow): Promise<void> => {
    counts.looked_at++
    const where = placeOf(headers, row.seq)
    if (where === 'before' || where === 'not_anchored') {
      counts[where]++
      return
    }
    const tell = (words: string): void =>
      findings.add('row', where?.index, `${row.sensor} ${formatIso(row.timeMs)}: ${words}`)
    if (where === undefined) {
      tell(`no batch holds its number ${row.seq}`)
      return
    }
    const place = await (await open(where.index)).placeOf(leafOf(row))
    if (place === undefined) {
      tell(`it is not what was anchored in batch ${where.index}`)
      return
    }
    if (!isAll) {
      counts.fit++
      return
    }
    const bits = seen.get(where.index) ?? new Uint8Array(Math.ceil(where.count / 8))
    seen.set(where.index, bits)
    const [byte, bit] = [place >>> 3, 1 << (place & 7)]
    if (((bits[byte] ?? 0) & bit) !== 0) tell('it is there twice')
    else counts.fit++
    bits[byte] = (bits[byte] ?? 0) | bit
  }

  return {
    add: async (rows) => {
      for (const row of rows) await addRow(row)
    },
    report: () => ({ ...counts }),
    findMissing: () => {
      for (const { index, count } of headers) {
        const found = (seen.get(index) ?? new Uint8Array()).reduce(
          (sum, bits) => sum + ones(bits),
          0,
        )
        if (found < count)
          findings.add(
            'missing',
            index,
            `batch ${index}: ${count - found} of its ${count} readings have no row that fits`,
          )
      }
    },
  }
}

const ones = (byte: number): number => {
  let count = 0
  for (let bits = byte; bits > 0; bits &= bits - 1) count++
  return count
}

/** The batch that has the number; undefined: those there are leave it out. */
export function placeOf(
  headers: readonly BatchHeader[],
  seq: number,
): BatchHeader | 'before' | 'not_anchored' | undefined {
  const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
  const lastOf = (header: BatchHeader | undefined): number => header?.nLast[partition] ?? 0
  if (n > lastOf(headers.at(-1))) return 'not_anchored'
  if (n > 0 && n < (headers[0]?.nFirst[partition] ?? 0)) return 'before'
  let low = 0
  let high = headers.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lastOf(headers[middle]) < n) low = middle + 1
    else high = middle
  }
  const found = headers[low]
  const isHeld = found && n >= (found.nFirst[partition] ?? Infinity) && n <= lastOf(found)
  return isHeld ? found : undefined
}

type OpenBlob = {
  /** Of a leaf among all leaves of the batch. */
  readonly placeOf: (leaf: Uint8Array) => Promise<number | undefined>
}

/** That its parts cannot be read is the blob's fault, which is found elsewhere: no row fits. */
async function openBlob(blobs: BatchBlobs, index: number): Promise<OpenBlob> {
  const top = await readable(blobs.top(index))
  const tiles = new Map<number, Map<string, number>>()
  return {
    placeOf: async (leaf) => {
      const number = top && tileOf(top, leaf)
      if (number === undefined) return undefined
      let places = tiles.get(number)
      if (places === undefined) {
        const leaves = (await readable(blobs.tile(index, number))) ?? []
        places = new Map(leaves.map((one, at) => [keyOf(one), at]))
        tiles.set(number, places)
      }
      const at = places.get(keyOf(leaf))
      return at === undefined ? undefined : number * tileLeaves + at
    },
  }
}

const keyOf = (leaf: Uint8Array): string => Buffer.from(leaf).toString('latin1')

async function readable<T extends BlobTop | Uint8Array[]>(
  reading: Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
