/** Where in the leaves of its batch a reading's leaf is. */
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { rankOf } from '../../core/proof/ranked-path.ts'
import { tileLeaves } from '../../core/proof/tree.ts'
import { type BlobTop, tileOf } from './batch-blob.ts'

type Batch = {
  readonly header: Pick<BatchHeader, 'version' | 'nFirst' | 'nLast'>
  /** undefined: it cannot be read. */
  readonly top: BlobTop | undefined
  readonly tileAt: (tile: number) => Promise<readonly Uint8Array[]>
}

/**
 * In version 1 a leaf is wherever its hash puts it, in version 2 at the place of its reading's number.
 * @returns undefined: it is not there
 */
export async function placeOfLeaf(
  { header, top, tileAt }: Batch,
  leaf: Uint8Array,
  seq: number,
): Promise<number | undefined> {
  if (batchVersionOf(header) === 2) {
    const place = rankOf(header, seq)
    if (place === undefined) return undefined
    const leaves = await tileAt(Math.floor(place / tileLeaves))
    return isSameLeaf(leaves[place % tileLeaves], leaf) ? place : undefined
  }
  const tile = top && tileOf(top, leaf)
  if (tile === undefined) return undefined
  const leaves = await tileAt(tile)
  const ordered = placeAmong(leaves, leaf)
  // leaves out of order are the fault of the blob, which its root shows, and not of the reading
  const at = ordered < 0 ? leaves.findIndex((one) => isSameLeaf(one, leaf)) : ordered
  return at < 0 ? undefined : tile * tileLeaves + at
}

export const isSameLeaf = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
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
