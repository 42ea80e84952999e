import { beforeEach, expect, test } from 'vitest'
import { gapNamer } from '../../api/live/log-gap.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { Hex } from '../../core/hex.ts'
import { type BatchEnd, beforeFirst, endOf, nextHeader } from '../../core/proof/batch.ts'
import { headerHash, headOf } from '../../core/proof/header.ts'
import { type BatchIndex, createBatchIndex, freshMs } from '../../operate/proofs/batch-index.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { Anchored, SealedBatch } from '../../schemas/anchoring/batch-record.ts'

const keccak = await createKeccak()
const contract: Hex = `0x${'ab'.repeat(20)}`
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const deployment = { chainId: 31_337, genesisHash: hash(1), contract, block: 1 }
const nowMs = 1_000_000_000

/** Ten batches: partition 0 brings two readings each, partition 1 one in every third. */
function batches(): SealedBatch[] {
  let end: BatchEnd = beforeFirst(deployment.chainId, contract, keccak)
  return Array.from({ length: 10 }, (_, at) => {
    const counts = [2, at % 3 === 0 ? 1 : 0]
    const header = nextHeader(end, {
      last: end.last + 5,
      sealedMs: at,
      readings: { root: hash(at + 100), timeMinMs: 100 - at, timeMaxMs: 200 + at, counts },
    })
    end = endOf(header, keccak)
    return { header, headerHash: headerHash(header, keccak), head: headOf(header, keccak) }
  })
}
const sealed = batches()
const final = (index: number): Anchored => ({
  index,
  status: 'final',
  tx: hash(index),
  block: index,
  blockHash: hash(index),
  blockTimeS: index,
  finalized: { number: 99, hash: hash(99) },
  checkedMs: nowMs,
})

let index: BatchIndex
beforeEach(() => {
  index = createBatchIndex(keccak)
  index.putDeployments([deployment])
  for (const batch of sealed) {
    index.putSealed(batch.header.index, batch)
    index.putAnchored(batch.header.index, final(batch.header.index))
  }
  index.putChecked({
    index: 10,
    head: sealed[9]!.head,
    number: 99,
    hash: hash(99),
    checkedMs: nowMs,
  })
})

const standing = (partition: number, n: number, atMs = nowMs) =>
  index.standingOf(seqOf(partition, n), atMs)

test('each reading is found in the one batch that numbers it, and behind the last in none', () => {
  expect(index.faults()).toBe(0)
  for (let n = 1; n <= 20; n++)
    expect(standing(0, n)).toMatchObject({ status: 'anchored', index: Math.ceil(n / 2) })
  expect([1, 2, 3, 4].map((n) => standing(1, n))).toMatchObject([
    { index: 1 },
    { index: 4 },
    { index: 7 },
    { index: 10 },
  ])
  for (const [partition, n] of [
    [0, 21],
    [1, 5],
    [15, 1],
  ] as const)
    expect(standing(partition, n)).toEqual({ status: 'pending' })
  expect(standing(0, 0)).toMatchObject({ status: 'broken', why: 'no_batch' })
  // no batch will ever have a number of a partition that does not exist
  for (const partition of [16, 500, 8_191])
    expect(standing(partition, 1)).toMatchObject({ status: 'broken', why: 'no_batch' })
})

test('the batches of a range of the log know between which times its readings were measured', () => {
  // each batch is of five messages
  expect(index.timesOf(1, 5)).toEqual({ minMs: 100, maxMs: 200 })
  expect(index.timesOf(5, 6)).toEqual({ minMs: 99, maxMs: 201 })
  expect(index.timesOf(3, 48)).toEqual({ minMs: 91, maxMs: 209 })
  expect(index.timesOf(41, 44)).toEqual({ minMs: 92, maxMs: 208 })
  // not all of it is in a batch, or there is no such range
  expect(index.timesOf(40, 51)).toBeUndefined()
  expect(index.timesOf(6, 5)).toBeUndefined()
  index.putSealed(5, undefined)
  expect(index.timesOf(1, 50)).toBeUndefined()
  expect(index.timesOf(26, 50)).toEqual({ minMs: 91, maxMs: 209 })
  const gapOf = gapNamer({ batches: index, archive: () => 'https://archive.example' })
  expect(gapOf({ firstSeq: 1, lastSeq: 5 })).toEqual({
    from: '1970-01-01T00:00:00.100Z',
    to: '1970-01-01T00:00:00.201Z',
    archive: 'https://archive.example',
  })
})

test('it makes no difference in which order the records are heard of', () => {
  const late = createBatchIndex(keccak)
  late.putChecked(index.checked())
  for (const batch of sealed.toReversed()) {
    late.putAnchored(batch.header.index, final(batch.header.index))
    late.putSealed(batch.header.index, batch)
  }
  late.putDeployments([deployment])
  expect(late.faults()).toBe(0)
  for (let n = 1; n <= 20; n++) expect(late.standingOf(seqOf(0, n), nowMs)).toEqual(standing(0, n))
})

test('a batch is anchored only while somebody looks, and only when its own record is final', () => {
  expect(standing(0, 3, nowMs + freshMs)).toMatchObject({ status: 'anchored' })
  expect(standing(0, 3, nowMs + freshMs + 1)).toMatchObject({ why: 'not_checked' })
  index.putAnchored(2, { ...final(2), status: 'mined' })
  expect(standing(0, 3)).toMatchObject({ status: 'anchoring', why: 'mined' })
  index.putAnchored(2, undefined)
  expect(standing(0, 3)).toMatchObject({ status: 'anchoring', why: 'sealed' })
  index.putAnchored(2, final(3))
  expect(standing(0, 3)).toMatchObject({ status: 'anchoring', why: 'sealed' })
  index.putAnchored(2, final(2))
  index.putChecked({ ...index.checked()!, index: 1, head: sealed[0]!.head })
  expect(standing(0, 3)).toMatchObject({ why: 'not_checked' })
  expect(standing(0, 1)).toMatchObject({ status: 'anchored' })
})

test('an altered header breaks its own batch, and vouches for none before it', () => {
  const { header, ...rest } = sealed[4]!
  index.putSealed(5, { header: { ...header, root: hash(7) }, ...rest })
  expect(index.faults()).toBeGreaterThan(0)
  expect(standing(0, 9)).toMatchObject({ status: 'broken', why: 'header', index: 5 })
  expect(standing(0, 8)).toMatchObject({ status: 'anchoring', why: 'not_linked' })
  expect(standing(0, 11)).toMatchObject({ status: 'anchored', index: 6 })
  index.putSealed(5, sealed[4])
  expect(standing(0, 9)).toMatchObject({ status: 'anchored' })
})

test('a header that was forged with a head that fits it is found by the batch behind it', () => {
  const header = { ...sealed[4]!.header, root: hash(7) }
  index.putSealed(5, {
    header,
    headerHash: headerHash(header, keccak),
    head: headOf(header, keccak),
  })
  expect(standing(0, 9)).toMatchObject({ status: 'broken', why: 'header' })
  const lastHeader = { ...sealed[9]!.header, root: hash(7) }
  index.putSealed(10, {
    header: lastHeader,
    headerHash: headerHash(lastHeader, keccak),
    head: headOf(lastHeader, keccak),
  })
  // behind the last one there is the contract
  expect(standing(0, 19)).toMatchObject({ status: 'broken', why: 'header' })
})

test('swapped headers are found, also by readings that seem to be in no batch', () => {
  index.putSealed(5, sealed[5])
  index.putSealed(6, sealed[4])
  for (const n of [9, 10, 11, 12]) expect(standing(0, n)).toMatchObject({ status: 'broken' })
  expect(standing(0, 13)).toMatchObject({ status: 'anchored' })
})

test('readings of a batch whose record is gone are not taken for new ones', () => {
  index.putSealed(5, undefined)
  for (const n of [9, 10])
    expect(standing(0, n)).toMatchObject({ status: 'broken', why: 'no_batch' })
  expect(standing(0, 13)).toMatchObject({ status: 'anchored', index: 7 })
  expect(standing(0, 7)).toMatchObject({ status: 'anchoring', why: 'not_linked' })
})

test('a chain of batches that began at another contract is at fault from its beginning', () => {
  index.putDeployments([{ ...deployment, contract: `0x${'cd'.repeat(20)}` }])
  expect(index.faults()).toBe(1)
})

test('a batch that was sealed for another contract breaks nothing, and is anchored nowhere', () => {
  const other: Hex = `0x${'cd'.repeat(20)}`
  for (const at of [5, 6]) index.putSealed(at, { ...sealed[at - 1]!, contract: other })
  for (const n of [9, 12])
    expect(standing(0, n)).toMatchObject({ status: 'anchoring', why: 'sealed' })
  expect([4, 5, 7].map((at) => index.anchored(at)?.index)).toEqual([4, undefined, 7])
  // it vouches for none before it, and after it all is as it was
  expect(standing(0, 8)).toMatchObject({ status: 'anchoring', why: 'not_linked', index: 4 })
  expect(standing(0, 15)).toMatchObject({ status: 'anchored', index: 8 })
  // a contract that is not of these data needs a person
  expect(index.faults()).toBe(2)
  index.putDeployments([{ ...deployment, contract: other }, deployment])
  expect(index.faults()).toBe(0)
})
