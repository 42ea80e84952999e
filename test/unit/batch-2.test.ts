import { describe, expect, test } from 'vitest'
import { type Hex, zeroHash } from '../../core/hex.ts'
import { type BatchEnd, endOf, endOfRecord, nextHeader } from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import {
  type Beginning,
  beginningOf,
  type ChainRecord,
  noContract,
  noRecord,
  recordHead,
} from '../../core/proof/chain-record.ts'
import {
  type BatchHeader,
  headerHash,
  headerTypeOf,
  headerVersions,
  headOf,
  recordOf,
} from '../../core/proof/header.ts'
import { packNumbers, unpackNumbers } from '../../core/proof/packed-numbers.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import fixture from '../fixtures/proofs-2/batches.json' with { type: 'json' }

const keccak = await createKeccak()

type Vector = {
  readonly name: string
  readonly header: BatchHeader
  readonly headerHash: Hex
  readonly head: Hex
  readonly record?: ChainRecord
}
// the fixture's hashes are text to the compiler
const vectors = fixture.batches.map(({ version, header, ...vector }) => ({
  ...vector,
  header: version === 2 ? { ...header, version } : header,
})) as unknown as readonly Vector[]
const beginnings = fixture.beginnings as unknown as readonly (Beginning & {
  readonly name: string
  readonly record: ChainRecord
  readonly head: Hex
})[]
const vector = (name: string): Vector => {
  const found = vectors.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no vector ${name}`)
  return found
}

test('the type strings are those of the versions', () => {
  expect(headerVersions.map(headerTypeOf)).toEqual(fixture.types)
})

describe('the hash and the head of', () => {
  test.each(vectors)('$name', ({ header, ...expected }) => {
    expect(headerHash(header, keccak)).toBe(expected.headerHash)
    expect(headOf(header, keccak)).toBe(expected.head)
    expect(headerFault(header)).toBeUndefined()
  })
})

describe('the record that contract 2 keeps of', () => {
  test.each(vectors.filter(({ record }) => record !== undefined))('$name', ({ header, record }) => {
    expect(recordOf(header, keccak)).toEqual(record)
  })
})

describe('a contract of version 2 begins', () => {
  test.each(beginnings)('$name', ({ record, head, ...beginning }) => {
    expect(beginningOf(beginning, keccak)).toEqual(record)
    expect(recordHead(record, keccak)).toBe(head)
  })

  test('with a head of its own, for each chain, contract, former contract and record', () => {
    const [, border] = beginnings
    if (border === undefined) throw new Error('no beginning')
    const { name: _, ...known } = border
    const others: Beginning[] = [
      known,
      { ...known, chainId: 10 },
      { ...known, contract: noContract },
      { ...known, former: noContract },
      ...(['prevHead', 'root', 'headerHash'] as const).map((field) => ({
        ...known,
        from: { ...known.from, [field]: zeroHash },
      })),
      { ...known, from: { ...known.from, index: 8 } },
      { ...known, from: { ...known.from, last: 1 } },
      { ...known, from: { ...known.from, n: known.from.n.with(15, 1) } },
    ]
    const heads = others.map((one) => recordHead(beginningOf(one, keccak), keccak))
    expect(new Set(heads).size).toBe(others.length)
  })

  test('whatever case its addresses are written in', () => {
    const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    const begin = (of: string) =>
      beginningOf({ chainId: 1, contract: of, former: noContract, from: noRecord }, keccak)
    expect(begin(contract)).toEqual(begin(contract.toLowerCase()))
    expect(() => begin('0x12')).toThrow(RangeError)
  })
})

describe('the sixteen numbers', () => {
  test.each(fixture.packed)('$numbers are packed, and read back', ({ numbers, words }) => {
    expect(packNumbers(numbers)).toEqual(words)
    expect(unpackNumbers(packNumbers(numbers))).toEqual(numbers)
  })

  test.each([
    { what: 'fifteen', numbers: Array(15).fill(0) },
    { what: 'seventeen', numbers: Array(17).fill(0) },
    { what: 'one of 41 bits', numbers: [2 ** 40, ...Array(15).fill(0)] },
    { what: 'a negative one', numbers: [-1, ...Array(15).fill(0)] },
    { what: 'half a one', numbers: [0.5, ...Array(15).fill(0)] },
  ])('$what are not packed', ({ numbers }) => {
    expect(() => packNumbers(numbers)).toThrow(RangeError)
  })

  test('bits above them are refused', () => {
    const above: Hex = `0x0001${'0'.repeat(60)}`
    const seventeenth: Hex = `0x${'0'.repeat(22)}01${'0'.repeat(40)}`
    expect(() => unpackNumbers([above, zeroHash, zeroHash])).toThrow(RangeError)
    expect(() => unpackNumbers([zeroHash, zeroHash, seventeenth])).toThrow(RangeError)
    expect(unpackNumbers([zeroHash, seventeenth, zeroHash])[10]).toBe(1)
  })
})

const root: Hex = `0x${'b2'.repeat(32)}`
const counts = (over: Readonly<Record<number, number>>): number[] =>
  Array.from({ length: 16 }, (_, partition) => over[partition] ?? 0)
const readings = { root, timeMinMs: 1_000, timeMaxMs: 2_000, counts: counts({ 3: 5 }) }
const sealed = { sealedMs: 9_000, readings }

test('the border: version 2 goes on from what the last batch of version 1 left', () => {
  const last1 = vector('the last of version 1').header
  const [, border] = beginnings
  if (border === undefined) throw new Error('no beginning')
  const { chainId, contract, former } = border
  const beginning = beginningOf(
    { chainId, contract, former, from: recordOf(last1, keccak) },
    keccak,
  )
  const end = endOfRecord(beginning, keccak)
  const header = nextHeader(end, { ...sealed, last: last1.last + 7 })
  expect(header).toMatchObject({ version: 2, index: last1.index + 1, first: last1.last + 1 })
  expect(header.prevHead).toBe(border.head)
  expect(header.nFirst).toEqual(last1.nLast.map((n) => n + 1))
  expect([headerFault(header), chainFault(end, header)]).toEqual([undefined, undefined])
  expect(vector('the first after the border').header.prevHead).toBe(end.head)
  // from here on, the record of a batch is what the contract keeps
  const next = nextHeader(endOf(header, keccak), { ...sealed, last: header.last + 1 })
  expect(chainFault(endOfRecord(recordOf(header, keccak), keccak), next)).toBeUndefined()
})

describe('a fault of a batch of version 2 is named:', () => {
  const start: BatchEnd = endOfRecord(
    beginningOf(
      { chainId: 31_337, contract: `0x${'5f'.repeat(20)}`, former: noContract, from: noRecord },
      keccak,
    ),
    keccak,
  )
  const whole = nextHeader(start, { ...sealed, last: 7 })

  test.each<{ fault: string | undefined; what: string; over: Partial<BatchHeader> }>([
    { fault: undefined, what: 'nothing is wrong', over: {} },
    {
      fault: undefined,
      what: 'the largest number there is',
      over: { nFirst: whole.nFirst.with(3, 2 ** 40 - 5), nLast: whole.nLast.with(3, 2 ** 40 - 1) },
    },
    {
      fault: 'numbers',
      what: 'a number of 41 bits',
      over: { nFirst: whole.nFirst.with(3, 2 ** 40 - 4), nLast: whole.nLast.with(3, 2 ** 40) },
    },
    { fault: 'numbers', what: 'a number goes back', over: { nLast: whole.nLast.with(4, -1) } },
    { fault: 'count', what: 'a reading was left out', over: { count: 4 } },
    {
      fault: 'partitions',
      what: 'a seventeenth partition',
      over: { nFirst: [...whole.nFirst, 1], nLast: [...whole.nLast, 0] },
    },
    {
      fault: 'partitions',
      what: 'fifteen partitions',
      over: { nFirst: whole.nFirst.slice(0, 15), nLast: whole.nLast.slice(0, 15) },
    },
    { fault: 'root', what: 'readings without a root', over: { root: zeroHash } },
    { fault: 'range', what: 'a range that begins at 0', over: { first: 0 } },
  ])('$fault, $what', ({ fault, over }) => {
    expect(headerFault({ ...whole, ...over })).toBe(fault)
  })

  test('version, of the other version than its contract', () => {
    const { version: _, ...as1 } = whole
    expect(chainFault(start, as1)).toBe('version')
    const { version: __, ...start1 } = start
    expect(chainFault(start1, whole)).toBe('version')
    expect(chainFault(start, whole)).toBeUndefined()
  })
})
