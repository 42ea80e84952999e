/**
 * The tree of a batch: one shape for both versions, which differ only in how two neighbours become one
 * node. Leaves are paired from the left; an odd node at the end goes up as it is.
 *
 * In version 1 a pair is sorted before it is hashed, so a path is only siblings, without directions: a
 * leaf's place is not proven, and OpenZeppelin's `MerkleProof.verify` agrees on chain. In version 2 it is
 * not sorted, and the directions of a path follow from the leaf's rank and the count of leaves
 * (`Place`). There a node begins with the byte 0x01 and has 65 bytes: no 32 bytes that are hashed
 * into a leaf are a node, and no node of one version is a node of the other.
 *
 * An inner node and the root fold like leaves: a verifier derives the leaf from the reading and never
 * accepts one from outside.
 *
 * A big tree is kept as tiles of 256 leaves: the root of a tile is a node of the whole tree, eight levels
 * up, so one tile and the tree of the tiles' roots give any path without the rest.
 */
import { MerkleTree as Tree } from 'merkletreejs/MerkleTree'
import { nOfSeq, partitionOfSeq } from '../air/reading.ts'
import type { Brand } from '../brand.ts'
import type { BatchHeader, BatchVersion } from './header.ts'
import type { Keccak } from './leaf.ts'

/**
 * Made by `nodeHash` alone: a plain hash of one argument would be taken for it otherwise.
 * @returns new bytes each time @throws RangeError where one has not 32 bytes
 */
export type NodeHash = Brand<(left: Uint8Array, right: Uint8Array) => Uint8Array, 'NodeHash'>

export const nodeBytes = 32
/** The byte that a node of version 2 begins with. */
export const nodePrefix2 = 1

/** Works in a buffer of its own, so it must not be called from inside `keccak`. */
export function nodeHash(keccak: Keccak, version: BatchVersion): NodeHash {
  const isSorted = version === 1
  const start = isSorted ? 0 : 1
  const pair = new Uint8Array(start + 2 * nodeBytes)
  if (!isSorted) pair[0] = nodePrefix2
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

function asBuffer(node: Uint8Array): Buffer {
  assertNode(node)
  return Buffer.from(node.buffer, node.byteOffset, node.byteLength)
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

/**
 * In a batch of version 2. Its leaves are in the order of their numbers, so a number's place follows
 * from the batch's header; and from rank and count follow a path's directions and its length. A
 * verifier derives all of it, so a number is in exactly one place of its batch.
 */
export type Place = {
  /** Of the leaf, from 0. */
  readonly rank: number
  /** Of all leaves of the tree. */
  readonly count: number
}

/** @returns undefined where the number is not one of the batch's */
export function rankOf(
  { nFirst, nLast }: Pick<BatchHeader, 'nFirst' | 'nLast'>,
  seq: number,
): number | undefined {
  const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
  const [from, to] = [nFirst[partition], nLast[partition]]
  if (from === undefined || to === undefined || n < from || n > to) return undefined
  let rank = n - from
  for (let q = 0; q < partition; q++) rank += (nLast[q] ?? 0) - (nFirst[q] ?? 0) + 1
  return rank
}

export type PathFault =
  /** There is no such place: the rank is not a whole number below the count. */
  | 'rank'
  /** The path has fewer siblings than the place has. */
  | 'short'
  /** It has more. */
  | 'long'

/** How many siblings the path of a place has. */
export function pathLength({ rank, count }: Place): number {
  let length = 0
  for (const { isAlone } of levels(rank, count)) if (!isAlone) length++
  return length
}

/**
 * The root that follows from a leaf in its place; the caller compares it with the one it trusts.
 * @throws RangeError where a node has not 32 bytes
 */
export function foldPlaced(
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  { rank, count }: Place,
  hash: NodeHash,
): Uint8Array | PathFault {
  if (!(Number.isSafeInteger(rank) && Number.isSafeInteger(count) && rank >= 0 && rank < count))
    return 'rank'
  const length = pathLength({ rank, count })
  if (path.length !== length) return path.length < length ? 'short' : 'long'
  const siblings = path.values()
  let node = leaf
  for (const { isAlone, isRight } of levels(rank, count)) {
    const sibling = isAlone ? undefined : siblings.next().value
    if (sibling !== undefined) node = isRight ? hash(sibling, node) : hash(node, sibling)
  }
  return node
}

/** From the leaves up. Numbers may be above 2^31, so no bits are shifted. */
function* levels(rank: number, count: number) {
  let [at, size] = [rank, count]
  while (size > 1) {
    const isRight = at % 2 === 1
    yield { isRight, isAlone: !isRight && at === size - 1 }
    at = Math.floor(at / 2)
    size = Math.ceil(size / 2)
  }
}
