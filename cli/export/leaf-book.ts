import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'

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

/** Whether the header numbers the reading. */
export function isNumberedBy(header: BatchHeader, seq: number): boolean {
  const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
  return n >= (header.nFirst[partition] ?? Infinity) && n <= (header.nLast[partition] ?? 0)
}

/** Where a leaf stands among those of its batch, by its bytes. */
export const placesOf = (leaves: readonly Uint8Array[]): ReadonlyMap<string, number> =>
  new Map(leaves.map((leaf, at) => [keyOf(leaf), at]))

export const keyOf = (leaf: Uint8Array): string => Buffer.from(leaf).toString('latin1')
