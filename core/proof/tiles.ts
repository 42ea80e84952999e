/**
 * A big tree kept as tiles of 256 leaves: the root of a tile is a node of the whole tree, eight
 * levels up, so one tile and the list of tile roots give any path without the rest.
 */
import type { Keccak } from './leaf.ts'
import { merkleTree } from './merkle.ts'

export const tileLeaves = 256

/** @param sorted the leaves of a batch in order @returns the root of each tile, in order */
export function tileRoots(sorted: readonly Uint8Array[], keccak: Keccak): Uint8Array[] {
  const roots: Uint8Array[] = []
  for (let at = 0; at < sorted.length; at += tileLeaves) {
    roots.push(merkleTree(sorted.slice(at, at + tileLeaves), keccak).root)
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
export function tiledPath({ tile, roots, index }: TiledPath, keccak: Keccak): Uint8Array[] {
  return [
    ...merkleTree(tile, keccak).pathOf(index % tileLeaves),
    ...merkleTree(roots, keccak).pathOf(Math.floor(index / tileLeaves)),
  ]
}
