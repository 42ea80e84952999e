import fc from 'fast-check'
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToHex } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { mostValues } from '../../core/air/values.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import {
  type Keccak,
  type LeafFields2,
  leafEncoder,
  leafOf,
  leafTypeOf,
  leafVersions,
} from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture1 from '../fixtures/leaf-vectors.json' with { type: 'json' }
import fixture from '../fixtures/proofs-2/leaves.json' with { type: 'json' }
import { leafFields2 } from '../support/leaf-fields.ts'
import { valued } from '../support/readings.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const vectors = fixture.vectors.map(({ reading, ...expected }) => ({
  ...expected,
  reading: { ...reading, leafVersion: 2 } as unknown as LeafFields2,
}))
const [first] = vectors
if (first === undefined) throw new Error('the fixture holds no vectors')
const version2 = leafVersions[1]

test('the type string is the one of version 2', () => {
  expect(leafTypeOf(version2)).toBe(fixture.type)
  expect(toHex(keccak(new TextEncoder().encode(leafTypeOf(version2))))).toBe(fixture.typeHash)
})

describe('the leaf of', () => {
  test.each(vectors)('$name', ({ reading, packedValues, encoded, leaf }) => {
    const hashed: string[] = []
    const made = leafOf(reading, (bytes) => {
      hashed.push(toHex(bytes))
      return keccak(bytes)
    })
    expect(hashed).toContain(packedValues)
    expect(hashed).toContain(encoded)
    expect(toHex(made)).toBe(leaf)
  })
})

test('the vectors hold every quantity there is', () => {
  expect(Math.max(...vectors.map(({ reading }) => reading.values.length))).toBe(mostValues)
})

test('an encoder leaves nothing of one reading in the next, of whichever version', () => {
  const encode = leafEncoder(keccak)
  const ones = fixture1.vectors.map(({ reading, leaf }) => ({
    reading: valued({ ...reading, sensor: reading.sensor as SensorId }),
    leaf,
  }))
  const both = [...vectors, ...ones]
  for (const before of both) {
    for (const { reading, leaf } of both) {
      encode(before.reading)
      expect(toHex(encode(reading))).toBe(leaf)
    }
  }
})

const fields = parseAbiParameters(
  'bytes32, bytes32, uint64, uint64, bytes32, uint32, bytes32, uint16, bytes32',
)

test('a leaf is the hash that viem gives', () => {
  const encode = leafEncoder(keccak)
  const packed = (values: LeafFields2['values']): Hex =>
    values.reduce<Hex>((bytes, value, id) => {
      if (value === null) return bytes
      const hundredths = BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0')
      return `${bytes}${id.toString(16).padStart(4, '0')}${hundredths}`
    }, '0x')
  fc.assert(
    fc.property(leafFields2, (reading) => {
      const encoded = encodeAbiParameters(fields, [
        keccak256(stringToHex(fixture.type)),
        keccak256(stringToHex(reading.sensor)),
        ...([BigInt(reading.timeMs), BigInt(reading.seq)] as const),
        keccak256(stringToHex(reading.area)),
        reading.flags,
        keccak256(packed(reading.values)),
        reading.aqi ?? 65_535,
        reading.device ?? `0x${'00'.repeat(32)}`,
      ])
      expect(toHex(encode(reading))).toBe(keccak256(keccak256(encoded)))
    }),
  )
})

test('any change to any field is another leaf, and so is the other version', () => {
  const { reading } = first
  const others: LeafFields2[] = [
    { ...reading, sensor: 'NGR-LOS-IKJ-018' as SensorId },
    { ...reading, timeMs: reading.timeMs + 1 },
    { ...reading, seq: reading.seq + 1 },
    { ...reading, area: 'ikeja' },
    { ...reading, flags: 1 },
    { ...reading, values: reading.values.with(0, 1_851) },
    { ...reading, values: reading.values.with(0, null) },
    { ...reading, values: [...reading.values, 0] },
    { ...reading, aqi: 70 },
    { ...reading, aqi: null },
    { ...reading, device: `0x${'00'.repeat(31)}01` },
  ]
  const { leafVersion: _, ...bare } = reading
  const leaves = [reading, ...others, bare].map((one) => toHex(leafOf(one, keccak)))
  expect(new Set(leaves).size).toBe(leaves.length)
})

test('values that are the same are the same leaf, however long their list is', () => {
  const { reading } = first
  const longer = { ...reading, values: [...reading.values, null, null] }
  expect(leafOf(longer, keccak)).toEqual(leafOf(reading, keccak))
})

test.each<{ what: string; over: Partial<LeafFields2> }>([
  { what: 'half a hundredth', over: { values: [0.5] } },
  { what: 'not a number', over: { values: [Number.NaN] } },
  { what: 'a value of 2^53', over: { values: [2 ** 53] } },
  { what: 'a quantity that is not known', over: { values: [...Array(mostValues).fill(null), 1] } },
  { what: 'a time before the epoch', over: { timeMs: -1 } },
  { what: 'a sequence number of 2^53', over: { seq: 2 ** 53 } },
  { what: 'flags of 33 bits', over: { flags: 2 ** 32 } },
  { what: 'negative flags', over: { flags: -1 } },
  { what: 'an index that says there is none', over: { aqi: 65_535 } },
  { what: 'a negative index', over: { aqi: -1 } },
  { what: 'a device of 31 bytes', over: { device: `0x${'11'.repeat(31)}` } },
])('$what has no leaf', ({ over }) => {
  expect(() => leafOf({ ...first.reading, ...over }, keccak)).toThrow(RangeError)
})
