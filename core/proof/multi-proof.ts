/**
 * The proof of many leaves of a batch at once: siblings that several paths share, or that are leaves
 * themselves, are there once or not at all. Of a whole batch no sibling is needed.
 */
import { levelAbove, type NodeHash } from './tree.ts'

export type MultiProof = {
  /** The places of the leaves among all of the batch, as ranges [first, last], ascending. */
  readonly places: readonly (readonly [number, number])[]
  /** What cannot be computed, level by level from the leaves up, each level from the left. */
  readonly siblings: readonly Uint8Array[]
}

type Node = { readonly at: number; readonly hash: Uint8Array }

/**
 * @param leaves all of the batch, in order
 * @param places of the leaves to prove, ascending, each once; at least one
 * @throws RangeError
 */
export function multiProof(
  leaves: readonly Uint8Array[],
  places: readonly number[],
  hash: NodeHash,
): MultiProof {
  const siblings: Uint8Array[] = []
  const isWhole = places.length === leaves.length
  let level = leaves
  let known: readonly number[] = isWhole ? [] : places
  while (level.length > 1 && !isWhole) {
    const isKnown = new Set(known)
    for (const at of known) {
      const sibling = level[at ^ 1]
      if (sibling !== undefined && !isKnown.has(at ^ 1)) siblings.push(sibling)
    }
    known = [...new Set(known.map((at) => at >>> 1))]
    level = levelAbove(level, hash)
  }
  return { places: rangesOf(places, leaves.length), siblings }
}

export type Folded = {
  readonly root: Uint8Array
  /** Of the first leaf: its siblings from the leaf up. */
  readonly path: readonly Uint8Array[]
}

/**
 * The root that follows; the caller compares it with the one it trusts.
 * @param leaves as many as there are places, in ascending order
 * @param count of all leaves of the batch
 * @throws RangeError where leaves, places and siblings do not come out even
 */
export function foldMultiProof(
  leaves: readonly Uint8Array[],
  { places, siblings }: MultiProof,
  count: number,
  hashPair: NodeHash,
): Folded {
  const wanted = places.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  if (wanted !== leaves.length || wanted === 0)
    throw new RangeError(`${leaves.length} leaves for ${wanted} places`)
  const spread = spreadRanges(places, count)
  let nodes = leaves.map((hash, i): Node => ({ at: spread[i] ?? 0, hash }))
  let [size, used] = [count, 0]
  const path: Uint8Array[] = []
  while (size > 1) {
    const above: Node[] = []
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]
      if (node === undefined) break
      const next = nodes[i + 1]
      const parent = node.at >>> 1
      // an odd node at the end has no partner, and moves up as it is
      if ((node.at ^ 1) >= size) above.push({ at: parent, hash: node.hash })
      else {
        const isPair = node.at % 2 === 0 && next?.at === node.at + 1
        const sibling = isPair ? next?.hash : siblings[used++]
        if (sibling === undefined) throw new RangeError('the proof ends too early')
        if (isPair) i++
        if (above.length === 0) path.push(sibling)
        above.push({
          at: parent,
          hash: node.at % 2 === 0 ? hashPair(node.hash, sibling) : hashPair(sibling, node.hash),
        })
      }
    }
    nodes = above
    size = Math.ceil(size / 2)
  }
  const [root, more] = nodes
  if (used !== siblings.length || root === undefined || more !== undefined)
    throw new RangeError('the proof holds more than it needs')
  return { root: root.hash, path }
}

function rangesOf(places: readonly number[], count: number): [number, number][] {
  const ranges: [number, number][] = []
  for (const at of places) {
    const last = ranges.at(-1)
    if (at < 0 || at >= count || (last !== undefined && at <= last[1]))
      throw new RangeError(`place ${at} among ${count} is out of order`)
    if (last !== undefined && at === last[1] + 1) last[1] = at
    else ranges.push([at, at])
  }
  return ranges
}

function spreadRanges(ranges: MultiProof['places'], count: number): number[] {
  const places: number[] = []
  let former = -1
  for (const [first, last] of ranges) {
    if (first <= former || last < first || last >= count)
      throw new RangeError(`the places ${first} to ${last} among ${count} cannot be`)
    for (let at = first; at <= last; at++) places.push(at)
    former = last
  }
  return places
}
