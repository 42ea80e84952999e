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
