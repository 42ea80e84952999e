/**
 * Stream BLOBS: the leaves of a batch, for good. Bytes, so that a leaf costs 32 and little more:
 *
 *     air.blob.<index>.top       header bytes (u32) · leaves (u32) · header as it is hashed
 *                                · for each tile its root (32) and its first leaf (32)
 *     air.blob.<index>.tile.<t>  up to 256 leaves of 32 bytes, in the order of their hashes
 *
 * Numbers are big-endian. The top says which tile holds a leaf; the tile and the tiles' roots give
 * its path (`core/proof/tree.ts`). A heartbeat has a top alone. The header is the one that was written
 * first: sealed again for another contract, the batch has another prevHead, and nothing else changes.
 */

import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { rankOf, tileLeaves } from '../../core/proof/tree.ts'

export type BlobTop = {
  /** `encodeHeader` of the batch: its keccak is the header's hash. */
  readonly header: Uint8Array
  /** How many leaves the batch has. */
  readonly leaves: number
  /** Root of each tile, in order. */
  readonly roots: readonly Uint8Array[]
  /** First leaf of each tile, in order. */
  readonly firsts: readonly Uint8Array[]
}

const leafBytes = 32
const prefixBytes = 8

export function encodeBlobTop({ header, leaves, roots, firsts }: BlobTop): Uint8Array {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(header.length, 0)
  prefix.writeUInt32BE(leaves, 4)
  const tiles = roots.flatMap((root, tile) => [root, firsts[tile] ?? root])
  return Buffer.concat([prefix, header, ...tiles])
}

/** @throws RangeError where the lengths do not fit */
export function decodeBlobTop(bytes: Uint8Array): BlobTop {
  if (bytes.length < prefixBytes) throw new RangeError('a blob without its lengths')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const tilesAt = prefixBytes + view.getUint32(0)
  const leaves = view.getUint32(4)
  const nodes = cutLeaves(bytes.subarray(tilesAt))
  if (tilesAt > bytes.length || nodes.length !== 2 * Math.ceil(leaves / tileLeaves))
    throw new RangeError(`a blob of ${leaves} leaves with ${nodes.length} nodes`)
  return {
    header: bytes.subarray(prefixBytes, tilesAt),
    leaves,
    roots: nodes.filter((_, at) => at % 2 === 0),
    firsts: nodes.filter((_, at) => at % 2 === 1),
  }
}

/** The third word of a header. */
const prevHeadAt = 64
const withoutPrevHead = (header: Uint8Array): Uint8Array =>
  Uint8Array.from(header).fill(0, prevHeadAt, prevHeadAt + leafBytes)

/** Headers of the same batch, which may have been sealed for another contract. */
export const isSameHeader = (one: Uint8Array, other: Uint8Array): boolean =>
  Buffer.compare(withoutPrevHead(one), withoutPrevHead(other)) === 0

/** Tops of the same batch, which may have been sealed for another contract. */
export const isTopOfSame = (one: Uint8Array, other: Uint8Array): boolean =>
  isSameHeader(one.subarray(prefixBytes), other.subarray(prefixBytes)) &&
  Buffer.compare(one.subarray(0, prefixBytes), other.subarray(0, prefixBytes)) === 0

export const encodeTile = (leaves: readonly Uint8Array[]): Uint8Array => Buffer.concat(leaves)

/** @throws RangeError where the bytes are not whole leaves */
export function cutLeaves(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length % leafBytes !== 0) throw new RangeError(`${bytes.length} bytes are not leaves`)
  return Array.from({ length: bytes.length / leafBytes }, (_, at) =>
    bytes.subarray(at * leafBytes, (at + 1) * leafBytes),
  )
}

/** The tile that holds the leaf if the batch does; undefined where no tile can. */
export function tileOf({ firsts }: Pick<BlobTop, 'firsts'>, leaf: Uint8Array): number | undefined {
  let low = 0
  let high = firsts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const first = firsts[middle]
    if (first !== undefined && Buffer.compare(first, leaf) <= 0) low = middle + 1
    else high = middle
  }
  return low === 0 ? undefined : low - 1
}

type Batch = {
  readonly header: Pick<BatchHeader, 'version' | 'nFirst' | 'nLast'>
  /** undefined: it cannot be read. */
  readonly top: BlobTop | undefined
  readonly tileAt: (tile: number) => Promise<readonly Uint8Array[]>
}

/**
 * Where in the leaves of its batch a reading's leaf is.
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
