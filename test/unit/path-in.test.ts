import fc from 'fast-check'
import { expect, test } from 'vitest'
import { merkleTree, nodeHash, pathIn } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const keccak = await createKeccak()
const nodesOf = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, n) => keccak(Buffer.from(`node ${n}`)))
const hex = (path: readonly Uint8Array[]): string[] =>
  path.map((node) => Buffer.from(node).toString('hex'))

test('a path without a tree is the path of the tree, whatever its size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (count, pick) => {
      const nodes = nodesOf(count)
      const index = pick % count
      expect(hex(pathIn(nodes, index, nodeHash(keccak, 1)))).toEqual(
        hex(merkleTree(nodes, nodeHash(keccak, 1)).pathOf(index)),
      )
    }),
  )
})

test('what is not a node of it has no path', () => {
  const nodes = nodesOf(5)
  for (const index of [-1, 5, Number.NaN])
    expect(() => pathIn(nodes, index, nodeHash(keccak, 1))).toThrow(RangeError)
  expect(() => pathIn([...nodes, new Uint8Array(31)], 1, nodeHash(keccak, 1))).toThrow(RangeError)
  expect(() => pathIn([], 0, nodeHash(keccak, 1))).toThrow(RangeError)
})
