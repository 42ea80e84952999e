import type { Keccak } from './leaf.ts'

const hashBytes = 32

/**
 * The root that `merkleTree` of the same nodes has, without the tree: the one who seals needs no
 * path, and this is three times as fast.
 * @param nodes at least one, 32 bytes each @throws RangeError
 */
export function merkleRoot(nodes: readonly Uint8Array[], keccak: Keccak): Uint8Array {
  if (nodes.length === 0) throw new RangeError('a tree of no leaves proves nothing')
  if (nodes.some(({ length }) => length !== hashBytes)) throw new RangeError('a node has 32 bytes')
  const pair = new Uint8Array(2 * hashBytes)
  let level = nodes
  while (level.length > 1) {
    const next: Uint8Array[] = []
    for (let at = 0; at < level.length; at += 2) next.push(parentOf(level, at, { pair, keccak }))
    level = next
  }
  const [root] = level
  if (root === undefined) throw new RangeError('a tree of no leaves proves nothing')
  return root
}

type Hashing = { readonly pair: Uint8Array; readonly keccak: Keccak }

function parentOf(level: readonly Uint8Array[], at: number, { pair, keccak }: Hashing) {
  const [node, sibling] = [level[at], level[at + 1]]
  if (node === undefined) throw new RangeError(`no node ${at}`)
  // an odd one goes up as it is
  if (sibling === undefined) return node
  const isFirst = Buffer.compare(node, sibling) <= 0
  pair.set(isFirst ? node : sibling, 0)
  pair.set(isFirst ? sibling : node, hashBytes)
  return keccak(pair)
}
