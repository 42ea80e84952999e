import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Hex, zeroHash } from '../../core/hex.ts'
import {
  type BatchEnd,
  beforeFirst,
  endOf,
  nextHeader,
  type Sealed,
} from '../../core/proof/batch.ts'
import { chainFault, headerFault } from '../../core/proof/batch-faults.ts'
import { type BatchHeader, genesisHead, headOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const root: Hex = `0x${'b2'.repeat(32)}`

let keccak: Keccak
let start: BatchEnd
beforeAll(async () => {
  keccak = await createKeccak()
  start = beforeFirst(31_337, contract, keccak)
})

const counts = (over: Readonly<Record<number, number>>): number[] =>
  Array.from({ length: 16 }, (_, partition) => over[partition] ?? 0)
const readings = (over: Readonly<Record<number, number>>) => ({
  root,
  timeMinMs: 1e3,
  timeMaxMs: 2e3,
  counts: counts(over),
})

describe('the first batch', () => {
  test('has index 1, goes on from the contract’s genesis and begins at the log’s first message', () => {
    const header = nextHeader(start, { last: 7, sealedMs: 9_000, readings: readings({ 3: 5 }) })
    expect(header).toMatchObject({ index: 1, first: 1, last: 7, count: 5, beacon: zeroHash })
    expect(header.prevHead).toBe(genesisHead(31_337, contract, keccak))
    expect(header.nFirst).toEqual(Array(16).fill(1))
    expect(header.nLast).toEqual(counts({ 3: 5 }))
  })
})

test('a partition that brought nothing ends one below where it begins', () => {
  const one = nextHeader(start, { last: 7, sealedMs: 1, readings: readings({ 3: 5, 4: 1 }) })
  const two = nextHeader(endOf(one, keccak), { last: 9, sealedMs: 2, readings: readings({ 4: 2 }) })
  expect([two.nFirst[3], two.nLast[3]]).toEqual([6, 5])
  expect([two.nFirst[4], two.nLast[4]]).toEqual([2, 3])
})

describe('a heartbeat', () => {
  test('has no readings, no root and no times', () => {
    const header = nextHeader(start, { last: 0, sealedMs: 5 })
    expect(header).toMatchObject({ root: zeroHash, count: 0, timeMinMs: 0, timeMaxMs: 0 })
    expect([header.first, header.last]).toEqual([1, 0])
    expect(headerFault(header)).toBeUndefined()
  })

  test('may pass over log messages that brought no reading', () => {
    const header = nextHeader(start, { last: 4, sealedMs: 5 })
    expect(headerFault(header)).toBeUndefined()
    expect(nextHeader(endOf(header, keccak), { last: 4, sealedMs: 6 }).first).toBe(5)
  })
})

test('whatever is sealed goes on without a gap and without a fault', () => {
  const sealed: fc.Arbitrary<Sealed & { messages: number }> = fc
    .record({
      messages: fc.integer({ min: 1, max: 1_000 }),
      sealedMs: fc.nat(),
      brought: fc.array(fc.nat(5_000), { minLength: 16, maxLength: 16 }),
    })
    .map(({ messages, sealedMs, brought }) => ({
      messages,
      sealedMs,
      last: 0,
      ...(brought.some((n) => n > 0)
        ? {
            readings: {
              root,
              timeMinMs: 1,
              timeMaxMs: 2,
              counts: brought,
            },
          }
        : {}),
    }))
  fc.assert(
    fc.property(fc.array(sealed, { maxLength: 8 }), (steps) => {
      let end = start
      for (const step of steps) {
        const header = nextHeader(end, { ...step, last: end.last + step.messages })
        expect(headerFault(header)).toBeUndefined()
        expect(chainFault(end, header)).toBeUndefined()
        end = endOf(header, keccak)
        expect(end.head).toBe(headOf(header, keccak))
      }
    }),
    { numRuns: 30 },
  )
})

describe('a fault is named:', () => {
  const whole = (): BatchHeader =>
    nextHeader(start, { last: 7, sealedMs: 9_000, readings: readings({ 3: 5 }) })
  const idle = (): BatchHeader => nextHeader(start, { last: 0, sealedMs: 9_000 })

  test.each<{ fault: string; what: string; of: () => BatchHeader }>([
    {
      fault: 'partitions',
      what: 'a partition without its end',
      of: () => ({ ...whole(), nLast: [5] }),
    },
    {
      fault: 'numbers',
      what: 'numbers that run backwards',
      of: () => ({ ...whole(), nLast: counts({ 3: 5, 4: -1 }) }),
    },
    {
      fault: 'numbers',
      what: 'a number below 1',
      of: () => ({ ...whole(), nFirst: counts({ 3: 1 }) }),
    },
    { fault: 'count', what: 'a reading that was left out', of: () => ({ ...whole(), count: 4 }) },
    { fault: 'root', what: 'readings without a root', of: () => ({ ...whole(), root: zeroHash }) },
    { fault: 'root', what: 'a heartbeat with a root', of: () => ({ ...idle(), root }) },
    { fault: 'range', what: 'readings from no message', of: () => ({ ...whole(), last: 0 }) },
    { fault: 'range', what: 'a range that begins at 0', of: () => ({ ...whole(), first: 0 }) },
    {
      fault: 'range',
      what: 'a heartbeat that runs backwards',
      of: () => ({ ...idle(), first: 3, last: 1 }),
    },
    {
      fault: 'times',
      what: 'an earliest after the latest',
      of: () => ({ ...whole(), timeMinMs: 3_000 }),
    },
    { fault: 'times', what: 'a heartbeat with a time', of: () => ({ ...idle(), timeMaxMs: 1 }) },
  ])('$fault, $what', ({ fault, of }) => {
    expect(headerFault(of())).toBe(fault)
  })

  test.each<{ fault: string; over: Partial<BatchHeader> }>([
    { fault: 'index', over: { index: 2 } },
    { fault: 'prevHead', over: { prevHead: root } },
    { fault: 'first', over: { first: 2 } },
    { fault: 'nFirst', over: { nFirst: Array(16).fill(2) } },
    { fault: 'nFirst', over: { nFirst: [1] } },
  ])('$fault does not go on from the batch before', ({ fault, over }) => {
    expect(chainFault(start, { ...whole(), ...over })).toBe(fault)
  })
})
