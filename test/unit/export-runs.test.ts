/** Which batches share a run, and which rows of a batch have a place in it, of both versions. */
import { expect, test } from 'vitest'
import { makeRuns } from '../../cli/export/make-manifest.ts'
import { seqOf } from '../../core/air/reading.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import { type BatchHeader, recordOf } from '../../core/proof/header.ts'
import { foldMultiProof } from '../../core/proof/multi-proof.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { merkleRoot, nodeHash } from '../../core/proof/tree.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { sampleParts } from '../support/export-of-bundles.ts'

const keccak = await createKeccak()
const { header: like, chain } = sampleParts('v2-in-a-city')
const perBatch = 6

/** Six readings in each batch: three each of partitions 0 and 1. */
const seqsOf = (index: number): number[] =>
  [0, 1].flatMap((partition) => [1, 2, 3].map((i) => seqOf(partition, 3 * (index - 1) + i)))
const leafOf = (seq: number): Uint8Array => keccak(Buffer.from(`leaf ${seq}`))

function batchOf(index: number, version: 1 | 2) {
  const made = seqsOf(index).map(leafOf)
  const leaves = version === 2 ? made : sortLeaves(made)
  const numbers = (n: number) => Array.from({ length: 16 }, (_, p) => (p < 2 ? 3 * n + 1 : 1))
  const { version: _, ...fields } = like
  const header: BatchHeader = {
    ...fields,
    ...(version === 2 && { version }),
    index,
    count: perBatch,
    root: toHex(merkleRoot(leaves, nodeHash(keccak, version))),
    nFirst: numbers(index - 1),
    nLast: numbers(index).map((n) => n - 1),
  }
  return { header, leaves }
}

type Asked = {
  /** The contract of each batch, from 1, as a letter. */
  readonly contracts: string
  /** The numbers that are in the export, by batch. */
  readonly touched: Readonly<Record<number, readonly number[]>>
  readonly leaf?: (seq: number) => Uint8Array
}

/** Contract a is of version 1, any other of version 2. */
async function runsOf({ contracts, touched, leaf = leafOf }: Asked) {
  const batches = contracts.split('').map((letter, at) => batchOf(at + 1, letter === 'a' ? 1 : 2))
  const batch = (index: number) => batches[index - 1]!
  const { runs, strays } = await makeRuns({
    touched: new Map(
      Object.entries(touched).map(([index, seqs]) => [
        Number(index),
        seqs.map((seq) => ({ hash: leaf(seq), seq })),
      ]),
    ),
    headerOf: (index) => batch(index).header,
    recordBefore: (index) => recordOf(batch(Math.max(index - 1, 1)).header, keccak),
    contractOf: (index): Hex => `0x${contracts[index - 1]!.repeat(40)}`,
    chainProofOf: async (index) => ({ ...chain, txIndex: index }),
    blobs: {
      top: async (index) => ({
        header: new Uint8Array(),
        leaves: perBatch,
        firsts: [],
        roots: [leafOf(index)],
      }),
      tile: async (index) => batch(index).leaves,
    },
    keccak,
  })
  for (const { headers, proofs } of runs)
    for (const proof of proofs) {
      const header = headers.find(({ index }) => index === proof.index)!
      const { leaves } = batch(proof.index)
      const held = proof.places.flatMap(([first, last]) => leaves.slice(first, last + 1))
      const hash = nodeHash(keccak, header.version ?? 1)
      expect(toHex(foldMultiProof(held, proof, header.count, hash).root)).toBe(header.root)
    }
  return { runs, strays }
}

test.each([
  ['aaaa', [[1, 2, 3, 4]]],
  [
    'aabb',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  // a recovery: another contract of the same version
  [
    'bbcc',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['abbc', [[1], [2, 3], [4]]],
])('batches of the contracts %s are in runs of one contract each', async (contracts, expected) => {
  const touched = Object.fromEntries(
    [1, 2, 3, 4].map((index) => [index, seqsOf(index).slice(1, 4)]),
  )
  const { runs, strays } = await runsOf({ contracts, touched })
  expect(runs.map(({ headers }) => headers.map(({ index }) => index))).toEqual(expected)
  // version 2 begins with the record before, which contract a does not know
  expect(runs.map(({ headers, before }) => (before ? headers[0]!.version : 1))).toEqual(
    expected.map(([first]) => (contracts[first! - 1] === 'a' ? 1 : 2)),
  )
  // the proof of the chain is that of the last head
  expect(runs.map(({ chain: { txIndex } }) => txIndex)).toEqual(expected.map((run) => run.at(-1)))
  expect(strays.size).toBe(0)
})

test('a batch between two others is in their run, whether it has rows here or not', async () => {
  const touched = { 1: seqsOf(1), 3: seqsOf(3) }
  const { runs } = await runsOf({ contracts: 'bbb', touched })
  expect(runs.map(({ headers, proofs }) => [headers.length, proofs.length])).toEqual([[3, 2]])
})

test('the places of version 2 are the ranks of the numbers', async () => {
  const touched = { 1: [seqOf(1, 1), seqOf(0, 2), seqOf(0, 3)] }
  const { runs } = await runsOf({ contracts: 'b', touched })
  expect(runs[0]?.proofs[0]?.places).toEqual([[1, 3]])
})

test('a leaf that the batch has in the place of another number is not a row of version 2', async () => {
  const swapped = (seq: number): Uint8Array => leafOf(seq % 2 === 0 ? seq - 1 : seq + 1)
  const touched = { 1: [seqOf(0, 1), seqOf(0, 2)] }
  const found = await runsOf({ contracts: 'b', touched, leaf: swapped })
  expect([...found.strays]).toEqual([[1, [toHex(leafOf(seqOf(0, 2))), toHex(leafOf(seqOf(0, 1)))]]])
  expect(found.runs).toEqual([])
  // where a leaf of version 1 is says nothing of its number
  expect((await runsOf({ contracts: 'a', touched, leaf: swapped })).strays.size).toBe(0)
})
