import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { mostValues } from '../../core/air/values.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import { type Keccak, type LeafFields2, leafOf } from '../../core/proof/leaf.ts'
import { leavesAtOnce, leavesEncoder } from '../../core/proof/leaves.ts'
import { tileRootOf2 } from '../../core/proof/tile-root.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { keccakSlots } from '../../runtime/hashes/keccak-slots.ts'
import { cutLeaves } from '../../schemas/anchoring/batch-blob.ts'
import fixture from '../fixtures/proofs-2/leaves.json' with { type: 'json' }
import { leafFields2 } from '../support/leaf-fields.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const hexes = (leaves: Uint8Array): string[] => cutLeaves(leaves).map(toHex)

test('many leaves at once are those of the vectors', () => {
  const readings = fixture.vectors.map(
    ({ reading }) => ({ ...reading, leafVersion: 2 }) as unknown as LeafFields2,
  )
  expect(hexes(leavesEncoder(keccak, keccakSlots)(readings))).toEqual(
    fixture.vectors.map(({ leaf }) => leaf),
  )
})

test('many leaves at once are the leaves one by one, whatever was hashed before them', () => {
  const encode = leavesEncoder(keccak, keccakSlots)
  fc.assert(
    fc.property(fc.array(leafFields2, { maxLength: 9 }), (readings) => {
      expect(hexes(encode(readings))).toEqual(
        readings.map((reading): Hex => toHex(leafOf(reading, keccak))),
      )
    }),
  )
})

test('readings with every number of values are hashed together', () => {
  const [{ reading } = { reading: undefined }] = fixture.vectors
  const readings = Array.from({ length: mostValues + 1 }, (_, count) => ({
    ...(reading as unknown as LeafFields2),
    leafVersion: 2 as const,
    values: Array.from({ length: count }, (_value, id) => id * 100 - 300),
  }))
  expect(hexes(leavesEncoder(keccak, keccakSlots)(readings))).toEqual(
    readings.map((one) => toHex(leafOf(one, keccak))),
  )
})

test('what must never be anchored is refused, and so are more readings than fit', () => {
  const encode = leavesEncoder(keccak, keccakSlots)
  const [good] = fc.sample(leafFields2, 1)
  if (good === undefined) throw new Error('there is no sample')
  expect(() => encode([good, { ...good, seq: -1 }])).toThrow(RangeError)
  expect(() => encode([{ ...good, values: [0.5] }])).toThrow(RangeError)
  expect(() => encode(Array.from({ length: leavesAtOnce + 1 }, () => good))).toThrow(
    'more than 256 readings at once',
  )
  expect(encode([])).toHaveLength(0)
})

test('a tile of any size has the root that its leaves have one by one', () => {
  const rootOf = tileRootOf2(keccakSlots)
  const hash = nodeHash(keccak, 2)
  const leaves = Array.from({ length: tileLeaves }, (_, n) => keccak(Buffer.from(`leaf ${n}`)))
  for (let size = tileLeaves; size > 0; size--) {
    const some = leaves.slice(0, size)
    expect(toHex(rootOf(Buffer.concat(some)))).toBe(toHex(merkleRoot(some, hash)))
  }
  expect(() => rootOf(new Uint8Array(0))).toThrow(RangeError)
  expect(() => rootOf(new Uint8Array(33))).toThrow(RangeError)
  expect(() => rootOf(new Uint8Array((tileLeaves + 2) * 32))).toThrow(RangeError)
})
