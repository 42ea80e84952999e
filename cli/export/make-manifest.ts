/** What makes exported rows provable: for each batch a proof of all its rows, for each run the chain's. */

import { type Hex, toHex } from '../../core/hex.ts'
import type { ChainProof } from '../../core/proof/bundle.ts'
import type { ChainRecord } from '../../core/proof/chain-record.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { multiProof } from '../../core/proof/multi-proof.ts'
import { nodeHash } from '../../core/proof/tree.ts'
import type { BatchProof, ExportRun } from '../../operate/exports/export-manifest.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { leavesOf, placesIn, type RowLeaf } from './leaf-book.ts'

type Options = {
  /** By batch: the leaves of its rows in the export. */
  readonly touched: ReadonlyMap<number, readonly RowLeaf[]>
  readonly headerOf: (index: number) => BatchHeader
  /** What the head before a batch of version 2 is the hash of. */
  readonly recordBefore: (index: number) => ChainRecord
  /** The address of the contract that a batch is anchored in. */
  readonly contractOf: (index: number) => Hex
  readonly chainProofOf: (index: number) => Promise<ChainProof>
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
}

export type MadeRuns = {
  readonly runs: readonly ExportRun[]
  /** Leaves that are not among those of their batch, by batch: their rows were altered. */
  readonly strays: ReadonlyMap<number, readonly string[]>
}

/** The headers of this number of batches are as long as one proof by the chain. */
const longestGap = 8

export async function makeRuns(options: Options): Promise<MadeRuns> {
  const { touched, headerOf, recordBefore, contractOf, chainProofOf } = options
  const strays = new Map<number, readonly string[]>()
  const runs: ExportRun[] = []
  for (const indexes of cutIntoRuns(
    [...touched.keys()].toSorted((a, b) => a - b),
    contractOf,
  )) {
    const proofs: BatchProof[] = []
    for (const index of indexes) {
      const { proof, stray } = await proofOf(index, options)
      if (stray.length > 0) strays.set(index, stray)
      if (proof !== undefined) proofs.push(proof)
    }
    const [first] = proofs
    const last = proofs.at(-1)
    if (first === undefined || last === undefined) continue
    const headers = Array.from({ length: last.index - first.index + 1 }, (_, at) =>
      headerOf(first.index + at),
    )
    const is2 = batchVersionOf(headerOf(first.index)) === 2
    const before = is2 ? { before: recordBefore(first.index) } : {}
    runs.push({ ...before, headers, proofs, chain: await chainProofOf(last.index) })
  }
  return { runs, strays }
}

/** No head leads from one contract to the next, so the last head of each needs a proof of its own. */
function cutIntoRuns(indexes: readonly number[], contractOf: Options['contractOf']): number[][] {
  const runs: number[][] = []
  for (const index of indexes) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const goesOn =
      last !== undefined && index - last <= longestGap && contractOf(last) === contractOf(index)
    if (goesOn) run?.push(index)
    else runs.push([index])
  }
  return runs
}

async function proofOf(
  index: number,
  { touched, headerOf, blobs, keccak }: Options,
): Promise<{ readonly proof: BatchProof | undefined; readonly stray: readonly string[] }> {
  const all = await leavesOf(blobs, index)
  const header = headerOf(index)
  const placeOf = placesIn(header, all)
  const stray: string[] = []
  const held: number[] = []
  for (const leaf of touched.get(index) ?? []) {
    const at = placeOf(leaf)
    if (at === undefined) stray.push(toHex(leaf.hash))
    else held.push(at)
  }
  held.sort((a, b) => a - b)
  if (held.length === 0) return { proof: undefined, stray }
  const hash = nodeHash(keccak, batchVersionOf(header))
  return { proof: { index, rows: held.length, ...multiProof(all, held, hash) }, stray }
}
