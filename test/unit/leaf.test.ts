import { beforeAll, describe, expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import {
  type Keccak,
  leafEncoder,
  leafOf,
  leafTypeOf,
  leafVersions,
  presentBits,
} from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/leaf-vectors.json' with { type: 'json' }
import { valued } from '../support/readings.ts'

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

const vectors = fixture.vectors.map(({ reading, ...expected }) => ({
  ...expected,
  // the leaf is defined for any text, also one that is not a canonical id
  reading: valued({ ...reading, sensor: reading.sensor as SensorId }),
}))
const [first] = vectors
if (first === undefined) throw new Error('the fixture holds no vectors')

const leafType = leafTypeOf(leafVersions[0])

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

test('the type string is the one of version 1', () => {
  expect(leafType).toBe(fixture.type)
  expect(hex(keccak(new TextEncoder().encode(leafType)))).toBe(fixture.typeHash)
})

describe('the leaf of', () => {
  test.each(vectors)('$name', ({ reading, present, leaf }) => {
    expect(presentBits(reading)).toBe(present)
    expect(hex(leafOf(reading, keccak))).toBe(leaf)
  })
})

test('an encoder leaves nothing of one reading in the next', () => {
  const encode = leafEncoder(keccak)
  for (const before of vectors) {
    for (const { reading, leaf } of vectors) {
      encode(before.reading)
      expect(hex(encode(reading))).toBe(leaf)
    }
  }
})

test('what is hashed is the ABI encoding, word by word', () => {
  const hashed: string[] = []
  leafOf(first.reading, (bytes) => {
    hashed.push(hex(bytes))
    return keccak(bytes)
  })
  expect(hashed).toContain(fixture.firstEncoded)
})

test('a leaf is the caller’s to keep', () => {
  const encode = leafEncoder(keccak)
  const kept = encode(first.reading)
  encode(valued({ ...first.reading, pm25: 1 }))
  expect(hex(kept)).toBe(first.leaf)
})

test.each([
  { what: 'half a hundredth', over: { pm25: 0.5 } },
  { what: 'not a number', over: { co2: Number.NaN } },
  { what: 'a time before the epoch', over: { timeMs: -1 } },
  { what: 'a sequence number of 2^53', over: { seq: 2 ** 53 } },
  { what: 'a negative index', over: { aqi: -1 } },
])('$what has no leaf', ({ over }) => {
  expect(() => leafOf(valued({ ...first.reading, ...over }), keccak)).toThrow(RangeError)
})
