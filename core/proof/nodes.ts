/**
 * How two neighbours of a batch's tree become one node. That is all in which the trees of the two
 * versions differ: leaves are paired from the left, an odd node at the end goes up as it is.
 *
 * In version 1 a pair is sorted before it is hashed, so that a path needs no directions, and a leaf's
 * place is not proven. In version 2 it is not sorted, and the directions of a path follow from the
 * leaf's rank and the count of leaves. There a node begins with the byte 0x01 and has 65 bytes: no 32
 * bytes that are hashed into a leaf are a node, and no node of one version is a node of the other.
 */
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
