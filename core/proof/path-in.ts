import { assertNode, levelAbove, type NodeHash } from './nodes.ts'

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
