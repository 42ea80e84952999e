/**
 * A big tree kept as tiles of 256 leaves: the root of a tile is a node of the whole tree, eight
 * levels up, so one tile and the list of tile roots give any path without the rest.
 */
import { merkleRoot } from './merkle-root.ts'
import type { NodeHash } from './nodes.ts'
import { pathIn } from './path-in.ts'

export const tileLeaves = 256

/** @param leaves of a batch in order @returns the root of each tile, in order */
export function tileRoots(leaves: readonly Uint8Array[], hash: NodeHash): Uint8Array[] {
  const roots: Uint8Array[] = []
  for (let at = 0; at < leaves.length; at += tileLeaves) {
    roots.push(merkleRoot(leaves.slice(at, at + tileLeaves), hash))
  }
  return roots
}

export type TiledPath = {
  /** The leaves of the tile that holds the leaf. */
  readonly tile: readonly Uint8Array[]
  /** Of the whole batch. */
  readonly roots: readonly Uint8Array[]
  /** Among all leaves of the batch. */
  readonly index: number
}

/** The same path as the whole tree gives. @throws RangeError where there is no such leaf */
export function tiledPath({ tile, roots, index }: TiledPath, hash: NodeHash): Uint8Array[] {
  return [
    ...pathIn(tile, index % tileLeaves, hash),
    ...pathIn(roots, Math.floor(index / tileLeaves), hash),
  ]
}
