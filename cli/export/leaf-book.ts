import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { rankOf } from '../../core/proof/tree.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'

/** The leaf of an exported row, and the number of its reading. */
export type RowLeaf = { readonly hash: Uint8Array; readonly seq: number }

/** All leaves of a batch, as they were published, in order. @throws MustAct where they are not there */
export async function leavesOf(blobs: BatchBlobs, index: number): Promise<Uint8Array[]> {
  const missing = (): MustAct =>
    new MustAct(`the leaves of batch ${index} cannot be read: \`airproof audit\` says more`)
  try {
    const top = await blobs.top(index)
    if (top === undefined) throw missing()
    const tiles = await Promise.all(top.roots.map((_, tile) => blobs.tile(index, tile)))
    return tiles.flatMap((tile) => {
      if (tile === undefined) throw missing()
      return tile
    })
  } catch (error) {
    throw error instanceof RangeError ? missing() : error
  }
}

/**
 * Finds the place of a leaf among those of its batch: in version 1 by its bytes, in version 2 by the
 * number of its reading. undefined: the batch does not have it there.
 */
export function placesIn(
  header: BatchHeader,
  leaves: readonly Uint8Array[],
): (leaf: RowLeaf) => number | undefined {
  if (batchVersionOf(header) === 2)
    return ({ hash, seq }) => {
      const rank = rankOf(header, seq)
      const found = rank === undefined ? undefined : leaves[rank]
      return found !== undefined && Buffer.compare(found, hash) === 0 ? rank : undefined
    }
  const places = new Map(leaves.map((leaf, at) => [keyOf(leaf), at]))
  return ({ hash }) => places.get(keyOf(hash))
}

const keyOf = (leaf: Uint8Array): string => Buffer.from(leaf).toString('latin1')
