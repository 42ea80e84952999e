/** The published leaves of a batch, looked up for a row. */
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { rankOf } from '../../core/proof/ranked-path.ts'
import { tileLeaves } from '../../core/proof/tree.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type BlobTop, tileOf } from '../../schemas/anchoring/batch-blob.ts'

/** What the leaf is made of. */
export type AuditedRow = LeafFields

export type OpenBlob = {
  /**
   * The place of a row's leaf: in version 1 wherever its hash puts it, in version 2 the place of its
   * number. undefined: it is not there.
   */
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
  const isAt = async (place: number, leaf: Uint8Array): Promise<boolean> => {
    const tile = await tileAt(Math.floor(place / tileLeaves))
    return isSame(tile[place % tileLeaves], leaf)
  }
  const byNumber = async (leaf: Uint8Array, seq: number): Promise<number | undefined> => {
    const rank = rankOf(header, seq)
    return rank !== undefined && (await isAt(rank, leaf)) ? rank : undefined
  }
  const byHash = async (leaf: Uint8Array): Promise<number | undefined> => {
    const tile = top && tileOf(top, leaf)
    if (tile === undefined) return undefined
    const at = placeAmong(await tileAt(tile), leaf)
    return at < 0 ? undefined : tile * tileLeaves + at
  }
  return {
    placeOf: batchVersionOf(header) === 2 ? byNumber : byHash,
    search: async (leaf) => {
      for (let tile = 0; tile < (top?.roots.length ?? 0); tile++) {
        const at = (await tileAt(tile)).findIndex((one) => isSame(one, leaf))
        if (at >= 0) return tile * tileLeaves + at
      }
      return undefined
    },
  }
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0

/** Of a leaf among others in the order of their hashes. @returns -1 where it is not there */
function placeAmong(leaves: readonly Uint8Array[], leaf: Uint8Array): number {
  let [low, high] = [0, leaves.length - 1]
  while (low <= high) {
    const middle = (low + high) >>> 1
    const one = leaves[middle]
    const order = one === undefined ? 0 : Buffer.compare(one, leaf)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return -1
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
