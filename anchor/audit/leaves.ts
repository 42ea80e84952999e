/** The published leaves of a batch, looked up for a row. */
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { tileLeaves } from '../../core/proof/tree.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type BlobTop, isSameLeaf, placeOfLeaf } from '../../schemas/anchoring/batch-blob.ts'

/** What the leaf is made of. */
export type AuditedRow = LeafFields

export type OpenBlob = {
  /** Its leaves are not there. */
  readonly isGone: boolean
  /** Of a row's leaf, as `placeOfLeaf` has it. */
  readonly placeOf: (leaf: Uint8Array, seq: number) => Promise<number | undefined>
  /** Where else the batch has the leaf. Reads all of it. */
  readonly search: (leaf: Uint8Array) => Promise<number | undefined>
}

type Batch = Pick<BatchHeader, 'index' | 'version' | 'nFirst' | 'nLast'>

/** That its parts cannot be read is the blob's fault, which is found elsewhere: no row fits. */
export async function openBlob(blobs: BatchBlobs, header: Batch): Promise<OpenBlob> {
  const { index } = header
  const top = await readable(blobs.top(index))
  const tiles = new Map<number, readonly Uint8Array[]>()
  const tileAt = async (tile: number): Promise<readonly Uint8Array[]> => {
    const known = tiles.get(tile) ?? (await readable(blobs.tile(index, tile))) ?? []
    tiles.set(tile, known)
    return known
  }
  return {
    isGone: top === undefined,
    placeOf: (leaf, seq) => placeOfLeaf({ header, top, tileAt }, leaf, seq),
    search: async (leaf) => {
      for (let tile = 0; tile < (top?.roots.length ?? 0); tile++) {
        const at = (await tileAt(tile)).findIndex((one) => isSameLeaf(one, leaf))
        if (at >= 0) return tile * tileLeaves + at
      }
      return undefined
    },
  }
}

export const keyOf = (leaf: Uint8Array): string => Buffer.from(leaf).toString('latin1')

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

/** The batch that has the number; undefined: those there are leave it out. */
export function headerOf(
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
  const candidate = headers[low]
  const isHeld =
    candidate && n >= (candidate.nFirst[partition] ?? Infinity) && n <= lastOf(candidate)
  return isHeld ? candidate : undefined
}
