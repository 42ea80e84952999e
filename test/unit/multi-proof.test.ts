import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldMultiProof, multiProof } from '../../core/proof/multi-proof.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { foldPath, merkleTree, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const keccak = await createKeccak()
const leavesOf = (count: number): Uint8Array[] =>
  sortLeaves(Array.from({ length: count }, (_, n) => keccak(Buffer.from(`leaf ${n}`))))

const chosen = fc.integer({ min: 1, max: 300 }).chain((count) =>
  fc.tuple(
    fc.constant(count),
    fc
      .uniqueArray(fc.integer({ min: 0, max: count - 1 }), { minLength: 1, maxLength: count })
      .map((places) => places.toSorted((a, b) => a - b)),
  ),
)

test('any leaves of a tree of any size lead to its root, and the first one’s path does too', () => {
  fc.assert(
    fc.property(chosen, ([count, places]) => {
      const leaves = leavesOf(count)
      const { root } = merkleTree(leaves, nodeHash(keccak, 1))
      const proof = multiProof(leaves, places, nodeHash(keccak, 1))
      const given = places.map((at) => leaves[at]!)
      const folded = foldMultiProof(given, proof, count, nodeHash(keccak, 1))
      expect(Buffer.compare(folded.root, root)).toBe(0)
      expect(Buffer.compare(foldPath(given[0]!, folded.path, nodeHash(keccak, 1)), root)).toBe(0)
      expect(proof.siblings.length > 0).toBe(places.length < count)
    }),
    { numRuns: 150 },
  )
})

test('a leaf that is altered, left out, put in or moved leads elsewhere or nowhere', () => {
  fc.assert(
    fc.property(chosen, fc.nat(), ([count, places], pick) => {
      const leaves = leavesOf(count)
      const { root } = merkleTree(leaves, nodeHash(keccak, 1))
      const proof = multiProof(leaves, places, nodeHash(keccak, 1))
      const given = places.map((at) => leaves[at]!)
      const victim = pick % given.length
      const altered = given.with(victim, keccak(given[victim]!))
      expect(
        Buffer.compare(foldMultiProof(altered, proof, count, nodeHash(keccak, 1)).root, root),
      ).not.toBe(0)
      expect(() =>
        foldMultiProof(given.toSpliced(victim, 1), proof, count, nodeHash(keccak, 1)),
      ).toThrow(RangeError)
      expect(() =>
        foldMultiProof([...given, given[0]!], proof, count, nodeHash(keccak, 1)),
      ).toThrow(RangeError)
      const more = { ...proof, siblings: [...proof.siblings, root] }
      expect(() => foldMultiProof(given, more, count, nodeHash(keccak, 1))).toThrow(RangeError)
    }),
    { numRuns: 100 },
  )
})

test('places that overlap, run backwards or lie outside are refused before anything is hashed', () => {
  const leaves = leavesOf(8)
  const given = leaves.slice(0, 2)
  for (const places of [
    [
      [0, 0],
      [0, 0],
    ],
    [
      [1, 1],
      [0, 0],
    ],
    [[7, 8]],
    [[0, 2 ** 50]],
    [],
  ] as [number, number][][])
    expect(() => foldMultiProof(given, { places, siblings: [] }, 8, nodeHash(keccak, 1))).toThrow(
      RangeError,
    )
  expect(() => multiProof(leaves, [3, 3], nodeHash(keccak, 1))).toThrow(RangeError)
  expect(() => multiProof(leaves, [8], nodeHash(keccak, 1))).toThrow(RangeError)
})
