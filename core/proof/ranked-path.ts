/**
 * A place in a batch of version 2. Its leaves are in the order of their numbers, so a number's place,
 * its rank, follows from the batch's header; and from rank and count follow a path's directions and
 * its length. A verifier derives all of it, so a number is in exactly one place of its batch.
 */
import { nOfSeq, partitionOfSeq } from '../air/reading.ts'
import type { BatchHeader } from './header.ts'
import type { NodeHash } from './tree.ts'

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
