import fc from 'fast-check'
import { MerkleTree as Library } from 'merkletreejs/MerkleTree'
import { describe, expect, test } from 'vitest'
import { seqOf } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { foldMultiProof, multiProof } from '../../core/proof/multi-proof.ts'
import {
  foldPlaced,
  merkleRoot,
  merkleTree,
  nodeHash,
  pathIn,
  pathLength,
  rankOf,
  tiledPath,
  tileLeaves,
} from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/proofs-2/trees.json' with { type: 'json' }
import { tileRoots } from '../support/tile-roots.ts'

const keccak = await createKeccak()
const hash = nodeHash(keccak, 2)

const all = Array.from({ length: 1_300 }, (_, rank) => keccak(Buffer.from(`leaf ${rank}`)))
const leavesOf = (count: number): Uint8Array[] => all.slice(0, count)
const at = (nodes: readonly Uint8Array[], index: number): Uint8Array => {
  const node = nodes[index]
  if (node === undefined) throw new RangeError(`no node ${index}`)
  return node
}
const tiled = (leaves: readonly Uint8Array[], rank: number): Uint8Array[] => {
  const from = rank - (rank % tileLeaves)
  const tile = leaves.slice(from, from + tileLeaves)
  return tiledPath({ tile, top: merkleTree(tileRoots(leaves, hash), hash), index: rank }, hash)
}

/** From the root down, by the recursive definition: the larger full tree is on the left. */
function turnsTo(rank: number, count: number): string {
  if (count === 1) return ''
  const left = 2 ** (Math.ceil(Math.log2(count)) - 1)
  return rank < left ? `l${turnsTo(rank, left)}` : `r${turnsTo(rank - left, count - left)}`
}

describe.each(fixture.small)('a tree of $count leaves', ({ count, root, paths }) => {
  const leaves = leavesOf(count)

  test('has the root and the paths that another implementation gives', () => {
    expect(toHex(merkleRoot(leaves, hash))).toBe(root)
    expect(toHex(merkleTree(leaves, hash).root)).toBe(root)
    for (const [rank, path] of paths.entries()) {
      expect(pathIn(leaves, rank, hash).map(toHex)).toEqual(path)
      expect(merkleTree(leaves, hash).pathOf(rank).map(toHex)).toEqual(path)
      expect(tiled(leaves, rank).map(toHex)).toEqual(path)
      expect(pathLength({ rank, count })).toBe(path.length)
    }
  })

  test('refuses each leaf in each other place, and each path of another length', () => {
    for (let rank = 0; rank < count; rank++) {
      const path = pathIn(leaves, rank, hash)
      for (let place = 0; place < count; place++) {
        const folded = foldPlaced(at(leaves, rank), path, { rank: place, count }, hash)
        const isRoot = typeof folded !== 'string' && toHex(folded) === root
        expect(isRoot).toBe(place === rank)
      }
      const place = { rank, count }
      expect(foldPlaced(at(leaves, rank), [...path, at(leaves, 0)], place, hash)).toBe('long')
      const shorter = path.map((_, level) => path.toSpliced(level, 1))
      for (const one of shorter)
        expect(foldPlaced(at(leaves, rank), one, place, hash)).toBe('short')
    }
  })
})

test.each(fixture.large)(
  'a tree of $count leaves has the root and all paths that another implementation gives',
  ({ count, root, allPaths }) => {
    const leaves = leavesOf(count)
    const roots = tileRoots(leaves, hash)
    expect(toHex(merkleRoot(leaves, hash))).toBe(root)
    expect(toHex(merkleRoot(roots, hash))).toBe(root)
    const [tree, top] = [merkleTree(leaves, hash), merkleTree(roots, hash)]
    const tiles = roots.map((_, tile) => leaves.slice(tile * tileLeaves, (tile + 1) * tileLeaves))
    const bytes = leaves.map((leaf, rank) => {
      const path = tree.pathOf(rank)
      const tile = tiles[Math.floor(rank / tileLeaves)] ?? []
      expect(tiledPath({ tile, top, index: rank }, hash).map(toHex)).toEqual(path.map(toHex))
      const folded = foldPlaced(leaf, path, { rank, count }, hash)
      expect(typeof folded === 'string' ? folded : toHex(folded)).toBe(root)
      return Buffer.concat([Buffer.of(path.length), ...path])
    })
    expect(toHex(keccak(Buffer.concat(bytes)))).toBe(allPaths)
  },
)

test('the shape is that of a library with the same hash of a node', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), fc.nat(), (count, pick) => {
      const leaves = leavesOf(count)
      const rank = pick % count
      const prefixed = (pair: Buffer): Uint8Array => keccak(Buffer.concat([Buffer.of(1), pair]))
      const library = new Library(
        leaves.map((leaf) => Buffer.from(leaf)),
        prefixed,
      )
      expect(toHex(merkleRoot(leaves, hash))).toBe(toHex(library.getRoot()))
      const proof = library.getProof(Buffer.from(at(leaves, rank)), rank)
      expect(pathIn(leaves, rank, hash).map(toHex)).toEqual(proof.map(({ data }) => toHex(data)))
    }),
    { numRuns: 30 },
  )
})

test('a path that was altered, or is of a tree of another size, does not lead to the root', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 700 }),
      fc.nat(),
      fc.integer({ min: 1, max: 1_300 }),
      (count, pick, other) => {
        const leaves = leavesOf(count)
        const rank = pick % count
        const root = toHex(merkleRoot(leaves, hash))
        const path = pathIn(leaves, rank, hash)
        const leads = (one: readonly Uint8Array[], place: { rank: number; count: number }) => {
          const folded = foldPlaced(at(leaves, rank), one, place, hash)
          return typeof folded !== 'string' && toHex(folded) === root
        }
        expect(leads(path, { rank, count })).toBe(true)
        expect(leads(path.toReversed(), { rank, count })).toBe(path.length < 2)
        const altered = path.with(pick % path.length, keccak(at(path, pick % path.length)))
        expect(leads(altered, { rank, count })).toBe(false)
        // a count that gives the same turns is told apart by the header's hash alone
        const isAlike = rank < other && turnsTo(rank, other) === turnsTo(rank, count)
        expect(leads(path, { rank, count: other })).toBe(isAlike)
      },
    ),
    { numRuns: 60 },
  )
})

test('there is no place at or above the count, below 0, or between two', () => {
  const leaf = at(all, 0)
  for (const place of [
    { rank: 0, count: 0 },
    { rank: 3, count: 3 },
    { rank: -1, count: 3 },
    { rank: 0.5, count: 3 },
    { rank: 0, count: Number.NaN },
    { rank: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY },
  ])
    expect(foldPlaced(leaf, [], place, hash)).toBe('rank')
})

test('numbers above 32 bits have a place too', () => {
  expect(pathLength({ rank: 2 ** 40 - 1, count: 2 ** 40 })).toBe(40)
  expect(pathLength({ rank: 2 ** 40, count: 2 ** 40 + 1 })).toBe(1)
  expect(pathLength({ rank: 2 ** 33, count: 2 ** 33 + 2 })).toBe(2)
})

test('a node has 32 bytes, and is not a leaf, nor a node of version 1', () => {
  const [a, b] = [at(all, 0), at(all, 1)]
  expect(() => hash(a, new Uint8Array(31))).toThrow(RangeError)
  expect(() => hash(new Uint8Array(33), b)).toThrow(RangeError)
  expect(toHex(hash(a, b))).not.toBe(toHex(hash(b, a)))
  expect([toHex(hash(a, b)), toHex(hash(b, a))]).not.toContain(toHex(nodeHash(keccak, 1)(a, b)))
})

test('many leaves of an ordered tree are proven at once, each in its place', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
      (count, picks) => {
        const leaves = leavesOf(count)
        const places = [...new Set(picks.map((pick) => pick % count))].sort((a, b) => a - b)
        const given = places.map((place) => at(leaves, place))
        const root = toHex(merkleRoot(leaves, hash))
        const proof = multiProof(leaves, places, hash)
        const { root: folded, path } = foldMultiProof(given, proof, count, hash)
        expect(toHex(folded)).toBe(root)
        const [place = 0] = places
        expect(path.map(toHex)).toEqual(pathIn(leaves, place, hash).map(toHex))
        const [one, two, ...more] = given
        const swapped = [two, one, ...more].filter((leaf) => leaf !== undefined)
        const isRoot = toHex(foldMultiProof(swapped, proof, count, hash).root) === root
        expect(isRoot).toBe(given.length < 2)
      },
    ),
    { numRuns: 60 },
  )
})

describe('the rank of a number', () => {
  const arbitrary = fc.array(fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.nat(5)), {
    minLength: partitionCount,
    maxLength: partitionCount,
  })

  test('is its place among all numbers of the batch, in order', () => {
    fc.assert(
      fc.property(arbitrary, (parts) => {
        const nFirst = parts.map(([from]) => from)
        const nLast = parts.map(([from, brought]) => from + brought - 1)
        const seqs = parts.flatMap(([from, brought], partition) =>
          Array.from({ length: brought }, (_, i) => seqOf(partition, from + i)),
        )
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
        expect(seqs.map((seq) => rankOf({ nFirst, nLast }, seq))).toEqual([...seqs.keys()])
        for (const [partition, [from, brought]] of parts.entries()) {
          expect(rankOf({ nFirst, nLast }, seqOf(partition, from - 1))).toBeUndefined()
          expect(rankOf({ nFirst, nLast }, seqOf(partition, from + brought))).toBeUndefined()
        }
        expect(rankOf({ nFirst, nLast }, seqOf(partitionCount, 1))).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })
})
