import fc from 'fast-check'
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToHex } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { hashBytes, isHash, toHex, zeroHash } from '../../core/hex.ts'
import {
  type BatchHeader,
  encodeHeader,
  genesisHead,
  headerHash,
  headerTypeOf,
  headerVersions,
  headOf,
} from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const number = fc.maxSafeNat()
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes))
const headers: fc.Arbitrary<BatchHeader> = fc.record({
  index: number,
  prevHead: hash,
  root: hash,
  first: number,
  last: number,
  count: number,
  timeMinMs: number,
  timeMaxMs: number,
  sealedMs: number,
  beacon: hash,
  nFirst: fc.array(number, { maxLength: 20 }),
  nLast: fc.array(number, { maxLength: 20 }),
})

const fields = parseAbiParameters(
  'bytes32, uint64, bytes32, bytes32, uint64, uint64, uint64, uint64, uint64, uint64, bytes32, uint64[], uint64[]',
)
const type =
  'airproof.batch.v1(uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast)'

test('version 1 is what it was when it was first handed out', () => {
  expect(headerTypeOf(headerVersions[0])).toBe(type)
})

const encodedByViem = (h: BatchHeader) =>
  encodeAbiParameters(fields, [
    keccak256(stringToHex(type)),
    ...([BigInt(h.index), h.prevHead, h.root, BigInt(h.first), BigInt(h.last)] as const),
    ...([BigInt(h.count), BigInt(h.timeMinMs), BigInt(h.timeMaxMs), BigInt(h.sealedMs)] as const),
    h.beacon,
    h.nFirst.map(BigInt),
    h.nLast.map(BigInt),
  ])

test('a header’s bytes and hash are those that viem gives', () => {
  fc.assert(
    fc.property(headers, (header) => {
      expect(toHex(encodeHeader(header, keccak))).toBe(encodedByViem(header))
      expect(headerHash(header, keccak)).toBe(keccak256(encodedByViem(header)))
    }),
  )
})

test('a head is the hash that viem gives', () => {
  const call = parseAbiParameters('bytes32, uint64, bytes32, bytes32, uint64, uint64, uint64')
  fc.assert(
    fc.property(headers, (h) => {
      const encoded = encodeAbiParameters(call, [
        ...([h.prevHead, BigInt(h.index), h.root, keccak256(encodedByViem(h))] as const),
        ...([BigInt(h.first), BigInt(h.last), BigInt(h.count)] as const),
      ])
      expect(headOf(h, keccak)).toBe(keccak256(encoded))
    }),
  )
})

test('a genesis head is the hash of chain id and address, in whatever case it is written', () => {
  const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const encoded = encodeAbiParameters(parseAbiParameters('uint256, address'), [10n, contract])
  expect(genesisHead(10, contract, keccak)).toBe(keccak256(encoded))
  expect(genesisHead(10, contract.toLowerCase(), keccak)).toBe(keccak256(encoded))
  expect(() => genesisHead(10, '0x12', keccak)).toThrow(RangeError)
})

test('any change to any field is another head', () => {
  const header: BatchHeader = {
    index: 2,
    prevHead: `0x${'a1'.repeat(32)}`,
    root: `0x${'b2'.repeat(32)}`,
    first: 3,
    last: 4,
    count: 5,
    timeMinMs: 6,
    timeMaxMs: 7,
    sealedMs: 8,
    beacon: zeroHash,
    nFirst: [1, 2],
    nLast: [3, 4],
  }
  const others = Object.entries(header).map(([name, value]) => ({
    ...header,
    [name]:
      typeof value === 'number'
        ? value + 1
        : typeof value === 'string'
          ? toHex(keccak(hashBytes(value)))
          : [9, 9],
  }))
  const heads = [header, ...others].map((one) => headOf(one, keccak))
  expect(new Set(heads).size).toBe(13)
})

describe('what has no encoding is refused:', () => {
  const header: BatchHeader = {
    index: 1,
    prevHead: zeroHash,
    root: zeroHash,
    first: 1,
    last: 0,
    count: 0,
    timeMinMs: 0,
    timeMaxMs: 0,
    sealedMs: 8,
    beacon: zeroHash,
    nFirst: [1],
    nLast: [0],
  }
  test.each([
    { what: 'a negative number', over: { index: -1 } },
    { what: 'half a number', over: { sealedMs: 0.5 } },
    { what: 'a number of 2^53', over: { last: 2 ** 53 } },
    { what: 'a short hash', over: { root: '0x12' as const } },
    { what: 'a hash in upper case', over: { root: `0x${'AB'.repeat(32)}` as const } },
  ])('$what', ({ over }) => {
    expect(() => headerHash({ ...header, ...over }, keccak)).toThrow(RangeError)
  })
})

test('a hash has one spelling', () => {
  expect(isHash(zeroHash)).toBe(true)
  for (const text of ['', '0x', `0X${'0'.repeat(64)}`, `0x${'0'.repeat(63)}`, `${zeroHash}0`]) {
    expect(isHash(text)).toBe(false)
  }
})
