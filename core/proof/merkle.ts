/**
 * The tree of a batch. In version 1 (`nodes.ts`) pairs are sorted, so a path is only siblings, and
 * OpenZeppelin's `MerkleProof.verify` agrees on chain.
 *
 * An inner node and the root fold like leaves: whoever verifies derives the leaf from the reading
 * and never accepts one from outside.
 */
import { MerkleTree as Tree } from 'merkletreejs/MerkleTree'
import type { Keccak } from './leaf.ts'
import { assertNode, type NodeHash, nodeBytes, nodeHash } from './nodes.ts'

export type MerkleTree = {
  readonly root: Uint8Array
  readonly size: number
  /** The siblings from the node at `index` up to the root, one hash each. @throws RangeError */
  readonly pathOf: (index: number) => Uint8Array[]
}

// 31 bits of hash and 22 of index make a whole number below 2^53, and numbers are sorted without a
// callback: several times as fast as comparing bytes, which is half the cost of a big batch
const indexRange = 2 ** 22

/**
 * The leaves of a batch of version 1 in the order of their hashes, which is the order they are kept
 * and proven in. @throws RangeError where two are the same: each holds its own sequence number
 */
export function sortLeaves(leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length > indexRange) return [...sortDistinct(leaves)]
  const keys = Float64Array.from(
    leaves,
    (leaf, index) => prefixOf(leaf) * indexRange + index,
  ).sort()
  const sorted: Uint8Array[] = []
  let alike: Uint8Array[] = []
  let former = -1
  for (const key of keys) {
    const prefix = Math.floor(key / indexRange)
    if (prefix !== former) {
      sorted.push(...sortDistinct(alike))
      alike = []
      former = prefix
    }
    const leaf = leaves[key % indexRange]
    if (leaf !== undefined) alike.push(leaf)
  }
  sorted.push(...sortDistinct(alike))
  return sorted
}

const prefixOf = (leaf: Uint8Array): number =>
  (leaf[0] ?? 0) * 2 ** 23 +
  (leaf[1] ?? 0) * 2 ** 15 +
  (leaf[2] ?? 0) * 2 ** 7 +
  ((leaf[3] ?? 0) >> 1)

function sortDistinct(leaves: readonly Uint8Array[]): readonly Uint8Array[] {
  if (leaves.length < 2) return leaves
  const sorted = leaves.toSorted((a, b) => Buffer.compare(a, b))
  sorted.forEach((leaf, index) => {
    const former = sorted[index - 1]
    if (former !== undefined && Buffer.compare(former, leaf) === 0) {
      throw new RangeError(`a leaf is there twice: ${Buffer.from(leaf).toString('hex')}`)
    }
  })
  return sorted
}

/**
 * @param nodes at least one, 32 bytes each, in the order they are to stand: `sortLeaves` of a
 * batch, or the roots of its tiles; not copied, so not to be changed
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
  keccak: Keccak,
): Uint8Array {
  assertNode(leaf)
  const hash = nodeHash(keccak, 1)
  return path.reduce((node, sibling) => hash(node, sibling), leaf)
}

function asBuffer(node: Uint8Array): Buffer {
  assertNode(node)
  return Buffer.from(node.buffer, node.byteOffset, node.byteLength)
}
