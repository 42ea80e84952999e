import { SimpleMerkleTree, StandardMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { MerkleTree as Library } from 'merkletreejs/MerkleTree'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { type Keccak, leafOf, presentBits } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import {
  foldPath,
  merkleTree,
  type NodeHash,
  nodeHash,
  tiledPath,
  tileLeaves,
} from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/leaf-vectors.json' with { type: 'json' }
import { valued } from '../support/readings.ts'
import { tileRoots } from '../support/tile-roots.ts'

let keccak: Keccak
let hash: NodeHash
beforeAll(async () => {
  keccak = await createKeccak()
  hash = nodeHash(keccak, 1)
})

const leaves = (count: number, from = 0): Uint8Array[] =>
  sortLeaves(
    Array.from({ length: count }, (_, n) => keccak(new TextEncoder().encode(`${from + n}`))),
  )
const nodeOf = (nodes: readonly Uint8Array[], index: number): Uint8Array => {
  const node = nodes[index]
  if (node === undefined) throw new RangeError(`no node ${index}`)
  return node
}

describe('OpenZeppelin’s StandardMerkleTree', () => {
  const words = [
    'bytes32',
    'bytes32',
    'uint64',
    'uint64',
    'uint16',
    'int64',
    'int64',
    'int64',
    'int64',
    'int64',
    'uint16',
    'bytes32',
  ]
  const text = new TextEncoder()
  const readings = fixture.vectors.map(({ reading }) =>
    valued({ ...reading, sensor: reading.sensor as SensorId }),
  )
  const valuesOf = (reading: (typeof readings)[number]) => [
    fixture.typeHash,
    toHex(keccak(text.encode(reading.sensor))),
    reading.timeMs,
    reading.seq,
    presentBits(reading),
    ...reading.values.map((value) => value ?? 0),
    reading.aqi ?? 0,
    `0x${'0'.repeat(64)}`,
  ]

  // the shapes are the same for 2^k and 3 · 2^k leaves; for other counts the roots differ, and
  // still each verifies the other's paths
  test.each([1, 2, 3, 4, 6, 8, 12, 16, 24])('gives the root of %i readings', (count) => {
    const some = readings.slice(0, count)
    const ours = merkleTree(sortLeaves(some.map((r) => leafOf(r, keccak))), hash)
    expect(toHex(ours.root)).toBe(StandardMerkleTree.of(some.map(valuesOf), words).root)
  })

  test('gives the leaf of each reading and the path of each in a full tree', () => {
    const some = readings.slice(0, 16)
    const theirs = StandardMerkleTree.of(some.map(valuesOf), words)
    const sorted = sortLeaves(some.map((r) => leafOf(r, keccak)))
    const ours = merkleTree(sorted, hash)
    for (const reading of some) {
      const leaf = leafOf(reading, keccak)
      expect(theirs.leafHash(valuesOf(reading))).toBe(toHex(leaf))
      const index = sorted.findIndex((one) => Buffer.compare(one, leaf) === 0)
      expect(ours.pathOf(index).map(toHex)).toEqual(theirs.getProof(valuesOf(reading)))
    }
  })

  test('accepts our paths in a tree of any size', () => {
    for (let count = 1; count <= readings.length; count++) {
      const some = readings.slice(0, count)
      const sorted = sortLeaves(some.map((r) => leafOf(r, keccak)))
      const ours = merkleTree(sorted, hash)
      for (const reading of some) {
        const leaf = leafOf(reading, keccak)
        const path = ours.pathOf(sorted.findIndex((one) => Buffer.compare(one, leaf) === 0))
        expect(
          StandardMerkleTree.verify(
            toHex(ours.root),
            words,
            valuesOf(reading),
            path.map((node) => toHex(node)),
          ),
        ).toBe(true)
      }
    }
  })
})

test('every leaf folds over its path to the root, no other node does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(), (count, pick) => {
      const nodes = leaves(count)
      const tree = merkleTree(nodes, hash)
      const index = pick % count
      const path = tree.pathOf(index)
      expect(toHex(foldPath(nodeOf(nodes, index), path, hash))).toBe(toHex(tree.root))
      const stranger = keccak(nodeOf(nodes, index))
      expect(toHex(foldPath(stranger, path, hash))).not.toBe(toHex(tree.root))
      const accepted = SimpleMerkleTree.verify(
        toHex(tree.root),
        toHex(nodeOf(nodes, index)),
        path.map((node) => toHex(node)),
      )
      expect(accepted).toBe(true)
    }),
    { numRuns: 40 },
  )
})

test('a path from tiles is the path of the whole tree', () => {
  for (const count of [1, 255, 256, 257, 512, 769, 1_300]) {
    const nodes = leaves(count)
    const top = merkleTree(tileRoots(nodes, hash), hash)
    const tree = merkleTree(nodes, hash)
    expect(toHex(top.root)).toBe(toHex(tree.root))
    for (const index of [0, count >> 1, count - 1]) {
      const from = index - (index % tileLeaves)
      const tile = nodes.slice(from, from + tileLeaves)
      expect(tiledPath({ tile, top, index }, hash).map(toHex)).toEqual(
        tree.pathOf(index).map(toHex),
      )
    }
  }
})

test('leaves are in the order of their hashes, whatever order they came in', () => {
  const nodes = leaves(50)
  expect(sortLeaves(nodes.toReversed())).toEqual(nodes)
  expect(nodes.map(toHex)).toEqual(nodes.map(toHex).toSorted())
})

describe('leaves that begin alike', () => {
  const alike = (end: number) =>
    fc.array(fc.tuple(fc.nat(2), fc.nat(3), fc.nat(end)), { maxLength: 60 }).map((parts) =>
      parts.map(([start, middle, last]) => {
        const leaf = new Uint8Array(32)
        leaf.set([start], 3)
        leaf.set([middle], 9)
        leaf.set([last], 31)
        return leaf
      }),
    )

  test('are in order too', () => {
    fc.assert(
      fc.property(alike(255), (nodes) => {
        const distinct = [...new Map(nodes.map((node) => [toHex(node), node])).values()]
        expect(sortLeaves(distinct).map(toHex)).toEqual(distinct.map(toHex).toSorted())
      }),
    )
  })

  test('are refused where one is there twice, wherever it stands', () => {
    fc.assert(
      fc.property(alike(3), fc.nat(), (nodes, pick) => {
        const double = nodes[pick % nodes.length] ?? new Uint8Array(32)
        const twice = [...nodes, double, ...(nodes.length === 0 ? [double] : [])]
        expect(() => sortLeaves(twice)).toThrow(/there twice/)
      }),
    )
  })
})

describe('traps of the library that are closed here', () => {
  test('a tree of no leaves is never built', () => {
    const nothing = new Library([], keccak, { sortPairs: true })
    expect(nothing.verify([], Buffer.alloc(0), nothing.getRoot())).toBe(true)
    expect(() => merkleTree([], hash)).toThrow(RangeError)
  })

  test('an odd leaf is promoted, so a batch with its last leaf doubled has another root', () => {
    const nodes = leaves(3)
    const doubled = [...nodes, nodeOf(nodes, 2)]
    const unsafe = (of: Uint8Array[]): string =>
      new Library(
        of.map((leaf) => Buffer.from(leaf)),
        keccak,
        { sortPairs: true, duplicateOdd: true },
      ).getHexRoot()
    expect(unsafe(doubled)).toBe(unsafe(nodes))
    expect(toHex(merkleTree(doubled, hash).root)).not.toBe(toHex(merkleTree(nodes, hash).root))
  })

  test('a leaf that is there twice is refused', () => {
    const nodes = leaves(3)
    expect(() => sortLeaves([...nodes, nodeOf(nodes, 1)])).toThrow(/there twice/)
  })

  test('a node is 32 bytes, and text is none', () => {
    expect(() => merkleTree([new Uint8Array(31)], hash)).toThrow(RangeError)
    expect(() => foldPath(new Uint8Array(32), [new Uint8Array(64)], hash)).toThrow(RangeError)
    const text = '11'.repeat(32) as unknown as Uint8Array
    expect(() => merkleTree([text], hash)).toThrow(RangeError)
  })

  test('a leaf that is not there has no path, rather than an empty one', () => {
    const nodes = leaves(4)
    const library = new Library(
      nodes.map((leaf) => Buffer.from(leaf)),
      keccak,
      { sortPairs: true },
    )
    expect(library.getProof(Buffer.alloc(32))).toEqual([])
    const tree = merkleTree(nodes, hash)
    for (const index of [-1, 4, 0.5]) expect(() => tree.pathOf(index)).toThrow(RangeError)
  })

  test('a path is that of the place asked for: the library is not left to search the leaf', () => {
    const [a, b, c] = [nodeOf(leaves(3), 0), nodeOf(leaves(3), 1), nodeOf(leaves(3), 2)]
    const library = new Library(
      [a, b, a, c].map((leaf) => Buffer.from(leaf)),
      keccak,
      { sortPairs: true },
    )
    expect(library.getHexProof(Buffer.from(a))[0]).toBe(toHex(c))
    expect(merkleTree([a, b, a, c], hash).pathOf(0).map(toHex)[0]).toBe(toHex(b))
  })

  test('an inner node folds like a leaf, which is why a verifier derives the leaf itself', () => {
    const nodes = leaves(4)
    const tree = merkleTree(nodes, hash)
    const inner = foldPath(nodeOf(nodes, 0), tree.pathOf(0).slice(0, 1), hash)
    expect(toHex(foldPath(inner, tree.pathOf(0).slice(1), hash))).toBe(toHex(tree.root))
    expect(toHex(foldPath(tree.root, [], hash))).toBe(toHex(tree.root))
  })
})
