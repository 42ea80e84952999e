import fc from 'fast-check'
import { expect, test } from 'vitest'
import { merkleRoot, merkleTree, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const keccak = await createKeccak()
const nodes = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, at) => keccak(new TextEncoder().encode(`node ${at}`)))

test('the root without the tree is the root of the tree', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), (count) => {
      const some = nodes(count)
      expect(Buffer.from(merkleRoot(some, nodeHash(keccak, 1)))).toEqual(
        merkleTree(some, nodeHash(keccak, 1)).root,
      )
    }),
    { numRuns: 50 },
  )
})

test('no nodes, and nodes of another length, have no root', () => {
  expect(() => merkleRoot([], nodeHash(keccak, 1))).toThrow(RangeError)
  expect(() => merkleRoot([new Uint8Array(31)], nodeHash(keccak, 1))).toThrow(RangeError)
})
