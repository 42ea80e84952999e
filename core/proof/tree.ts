/**
 * The tree of a batch: one shape for both versions, which differ only in how two neighbours become one
 * node. Leaves are paired from the left; an odd node at the end goes up as it is.
 *
 * In version 1 a pair is sorted before it is hashed, so a path is only siblings, without directions: a
 * leaf's place is not proven, and OpenZeppelin's `MerkleProof.verify` agrees on chain. In version 2 it is
 * not sorted, and the directions of a path follow from the leaf's rank and the count of leaves
 * (`ranked-path.ts`). There a node begins with the byte 0x01 and has 65 bytes: no 32 bytes that are hashed
 * into a leaf are a node, and no node of one version is a node of the other.
 *
 * An inner node and the root fold like leaves: a verifier derives the leaf from the reading and never
 * accepts one from outside.
 *
 * A big tree is kept as tiles of 256 leaves: the root of a tile is a node of the whole tree, eight levels
 * up, so one tile and the tree of the tiles' roots give any path without the rest.
 */
import { MerkleTree as Tree } from 'merkletreejs/MerkleTree'
import type { Brand } from '../brand.ts'
import type { BatchVersion } from './header.ts'
import type { Keccak } from './leaf.ts'

/**
 * Made by `nodeHash` alone: a plain hash of one argument would be taken for it otherwise.
 * @returns new bytes each time @throws RangeError where one has not 32 bytes
 */
export type NodeHash = Brand<(left: Uint8Array, right: Uint8Array) => Uint8Array, 'NodeHash'>

export const nodeBytes = 32

/** Works in a buffer of its own, so it must not be called from inside `keccak`. */
export function nodeHash(keccak: Keccak, version: BatchVersion): NodeHash {
  const isSorted = version === 1
  const start = isSorted ? 0 : 1
  const pair = new Uint8Array(start + 2 * nodeBytes)
  if (!isSorted) pair[0] = 1
  const hash = (left: Uint8Array, right: Uint8Array): Uint8Array => {
    assertNode(left)
    assertNode(right)
    const isSwapped = isSorted && Buffer.compare(left, right) > 0
    pair.set(isSwapped ? right : left, start)
    pair.set(isSwapped ? left : right, start + nodeBytes)
    return keccak(pair)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is where it is made
  return hash as NodeHash
}

export function assertNode({ length }: Uint8Array): void {
  if (length !== nodeBytes) throw new RangeError(`a node has 32 bytes, not ${length}`)
}

/** The nodes that `level` is hashed to, from the left. */
export function levelAbove(level: readonly Uint8Array[], hash: NodeHash): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at], level[at + 1]]
    if (left !== undefined) above.push(right === undefined ? left : hash(left, right))
  }
  return above
}

/**
 * The root that `merkleTree` of the same nodes has, without the tree: the sealer needs no path, and
 * this is three times as fast.
 * @param nodes at least one, 32 bytes each @throws RangeError
 */
export function merkleRoot(nodes: readonly Uint8Array[], hash: NodeHash): Uint8Array {
  nodes.forEach(assertNode)
  let level = nodes
  while (level.length > 1) level = levelAbove(level, hash)
  const [root] = level
  if (root === undefined) throw new RangeError('a tree of no leaves proves nothing')
  return root
}

/**
 * The path that `merkleTree(nodes).pathOf(index)` gives, without the tree: for one path of a tile
 * that is not needed again, at the cost of its hashes.
 * @param nodes 32 bytes each @throws RangeError
 */
export function pathIn(nodes: readonly Uint8Array[], index: number, hash: NodeHash): Uint8Array[] {
  if (!(index >= 0 && index < nodes.length))
    throw new RangeError(`no leaf ${index} among ${nodes.length}`)
  nodes.forEach(assertNode)
  const path: Uint8Array[] = []
  let [level, place] = [nodes, index]
  while (level.length > 1) {
    // an odd node at the end has no partner
    const sibling = level[place ^ 1]
    // a copy: what is kept of a path must not keep its tile in memory
    if (sibling !== undefined) path.push(Uint8Array.from(sibling))
    level = levelAbove(level, hash)
    place >>>= 1
  }
  return path
}

export type MerkleTree = {
  readonly root: Uint8Array
  readonly size: number
  /** The siblings from the node at `index` up to the root, one hash each. @throws RangeError */
  readonly pathOf: (index: number) => Uint8Array[]
}

/**
 * @param nodes at least one, 32 bytes each, in their order; not copied, so not to be changed
 * @throws RangeError for no nodes, or one of another length
 */
export function merkleTree(nodes: readonly Uint8Array[], hash: NodeHash): MerkleTree {
  // merkletreejs would take "no leaves" for a tree whose root verifies anything
  if (nodes.length === 0) throw new RangeError('a tree of no leaves proves nothing')
  // it reads text as hex and never looks at a length, so it is given 32-byte Buffers only
  const hashPair = (pair: Buffer): Uint8Array =>
    hash(pair.subarray(0, nodeBytes), pair.subarray(nodeBytes))
  const tree = new Tree(nodes.map(asBuffer), hashPair)
  return {
    root: tree.getRoot(),
    size: nodes.length,
    pathOf: (index) => {
      // for a leaf it does not know the library answers an empty path, as for a tree of one
      const node = nodes[index]
      if (node === undefined) throw new RangeError(`no leaf ${index} among ${nodes.length}`)
      // without the index the library compares every leaf
      return tree.getProof(asBuffer(node), index).map(({ data }) => data)
    },
  }
}

/**
 * The root that follows from a leaf of a batch of version 1 and its path, wherever the leaf is. The
 * caller compares it with the one it trusts. Of version 2: `foldPlaced`.
 */
export function foldPath(
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  hash: NodeHash,
): Uint8Array {
  assertNode(leaf)
  return path.reduce((node, sibling) => hash(node, sibling), leaf)
}

export const tileLeaves = 256

export type TiledPath = {
  /** The leaves of the tile that holds the leaf. */
  readonly tile: readonly Uint8Array[]
  /** Of the roots of all tiles of the batch. */
  readonly top: Pick<MerkleTree, 'pathOf'>
  /** Among all leaves of the batch. */
  readonly index: number
}

/** The same path as the whole tree gives. @throws RangeError where there is no such leaf */
export const tiledPath = ({ tile, top, index }: TiledPath, hash: NodeHash): Uint8Array[] => [
  ...pathIn(tile, index % tileLeaves, hash),
  ...top.pathOf(Math.floor(index / tileLeaves)),
]

function asBuffer(node: Uint8Array): Buffer {
  assertNode(node)
  return Buffer.from(node.buffer, node.byteOffset, node.byteLength)
}
