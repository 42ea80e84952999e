import type { Keccak } from './leaf.ts'

const nodeBytes = 32

/**
 * The path that `merkleTree(nodes).pathOf(index)` gives, without the tree: for one path of a tile
 * that is not needed again, at the cost of its hashes and next to no memory.
 * @param nodes 32 bytes each @throws RangeError
 */
export function pathIn(nodes: readonly Uint8Array[], index: number, keccak: Keccak): Uint8Array[] {
  if (!(index >= 0 && index < nodes.length))
    throw new RangeError(`no leaf ${index} among ${nodes.length}`)
  const level = Buffer.alloc(nodes.length * nodeBytes)
  nodes.forEach((node, at) => {
    if (node.length !== nodeBytes) throw new RangeError(`a node has 32 bytes, not ${node.length}`)
    level.set(node, at * nodeBytes)
  })
  const pair = Buffer.alloc(2 * nodeBytes)
  const path: Uint8Array[] = []
  let [size, place] = [nodes.length, index]
  while (size > 1) {
    const sibling = place ^ 1
    // an odd node at the end has no partner
    if (sibling < size) path.push(Uint8Array.from(level.subarray(sibling * 32, sibling * 32 + 32)))
    for (let at = 0; at < size; at += 2) {
      const [left, right, end] = [at * nodeBytes, (at + 1) * nodeBytes, (at + 2) * nodeBytes]
      const to = left / 2
      if (at + 1 === size) level.copyWithin(to, left, right)
      else {
        const isOrdered = level.compare(level, right, end, left, right) <= 0
        level.copy(pair, isOrdered ? 0 : nodeBytes, left, right)
        level.copy(pair, isOrdered ? nodeBytes : 0, right, end)
        level.set(keccak(pair), to)
      }
    }
    size = Math.ceil(size / 2)
    place >>>= 1
  }
  return path
}
