/**
 * Ethereum's Merkle-Patricia trie over a list, as blocks commit to their transactions and receipts:
 * key = RLP of the position, value = bytes of the item. Only what a proof needs: the root and the
 * nodes on the way to one item.
 */
import { type Hex, keccak256, toRlp } from 'viem'

type Node = readonly (Hex | Node)[]
type Item = { readonly nibbles: readonly number[]; readonly value: Hex }

export type TrieProof = {
  readonly root: Hex
  /** RLP of the nodes from the root down to the item's. */
  readonly nodes: readonly Hex[]
}

/** @throws RangeError where there is no such item */
export function proveItem(items: readonly Hex[], index: number): TrieProof {
  if (items[index] === undefined) throw new RangeError(`no item ${index} among ${items.length}`)
  const all = items.map((value, at) => ({ nibbles: nibblesOf(keyOf(at)), value }))
  const nodes: Hex[] = []
  const root = nodeOf(all, 0, nibblesOf(keyOf(index)), nodes)
  return { root: keccak256(rlp(root)), nodes: nodes.toReversed() }
}

/** @param way the key whose nodes are collected, lowest first, or undefined off the way to it */
function nodeOf(
  items: readonly Item[],
  depth: number,
  way: readonly number[] | undefined,
  collected: Hex[],
): Node {
  const node = shapeOf(items, depth, way, collected)
  if (way !== undefined) collected.push(rlp(node))
  return node
}

function shapeOf(
  items: readonly Item[],
  depth: number,
  way: readonly number[] | undefined,
  collected: Hex[],
): Node {
  const [first, ...others] = items
  if (first === undefined) throw new RangeError('a trie of no items')
  if (others.length === 0) return [hexPrefix(first.nibbles.slice(depth), true), first.value]
  const shared = sharedLength(items, depth)
  if (shared > 0) {
    const child = nodeOf(items, depth + shared, way, collected)
    return [hexPrefix(first.nibbles.slice(depth, depth + shared), false), referenceTo(child)]
  }
  // keys are RLP and so no prefix of one another: a branch never holds a value of its own
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const under = items.filter(({ nibbles }) => nibbles[depth] === nibble)
    if (under.length === 0) return '0x' as const
    return referenceTo(
      nodeOf(under, depth + 1, way?.[depth] === nibble ? way : undefined, collected),
    )
  })
  return [...children, '0x']
}

const rlp = (node: Node): Hex => toRlp(node)

/** A node of fewer than 32 bytes is embedded in its parent, any other is there by its hash. */
function referenceTo(node: Node): Hex | Node {
  const bytes = rlp(node)
  return bytes.length - 2 < 64 ? node : keccak256(bytes)
}

const keyOf = (index: number): Hex =>
  toRlp(index === 0 ? '0x' : `0x${index.toString(16).padStart(index < 256 ? 2 : 4, '0')}`)

const nibblesOf = (key: Hex): number[] =>
  Array.from(key.slice(2), (digit) => Number.parseInt(digit, 16))

function sharedLength([first, ...others]: readonly Item[], depth: number): number {
  let length = 0
  const nibbles = first?.nibbles ?? []
  while (
    depth + length < nibbles.length &&
    others.every((other) => other.nibbles[depth + length] === nibbles[depth + length])
  ) {
    length++
  }
  return length
}

/** Nibbles as bytes: the first nibble shows whether they are odd and whether a value follows. */
function hexPrefix(nibbles: readonly number[], isLeaf: boolean): Hex {
  const flag = (isLeaf ? 2 : 0) + (nibbles.length % 2)
  const all = nibbles.length % 2 === 1 ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return `0x${all.map((nibble) => nibble.toString(16)).join('')}`
}
