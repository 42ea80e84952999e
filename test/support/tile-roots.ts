import { merkleRoot, type NodeHash, tileLeaves } from '../../core/proof/tree.ts'

/** @param leaves of a batch in order @returns the root of each tile, in order */
export const tileRoots = (leaves: readonly Uint8Array[], hash: NodeHash): Uint8Array[] =>
  Array.from({ length: Math.ceil(leaves.length / tileLeaves) }, (_, tile) =>
    merkleRoot(leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves), hash),
  )
