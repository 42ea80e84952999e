/** What makes exported rows provable: for each batch a proof of all its rows, for each run the chain's. */

import { toHex } from '../../core/hex.ts'
import type { ChainProof } from '../../core/proof/bundle.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { multiProof } from '../../core/proof/multi-proof.ts'
import { nodeHash } from '../../core/proof/tree.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import type { BatchProof, ExportRun } from './export-manifest.ts'
import { keyOf, leavesOf, placesOf } from './leaf-book.ts'

type Options = {
  /** By batch: the leaves of its rows in the export. */
  readonly touched: ReadonlyMap<number, readonly Uint8Array[]>
  readonly headerOf: (index: number) => BatchHeader
  readonly chainProofOf: (index: number) => Promise<ChainProof>
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
}

export type MadeRuns = {
  readonly runs: readonly ExportRun[]
  /** Leaves that are not among those of their batch, by batch: their rows were altered. */
  readonly strays: ReadonlyMap<number, readonly string[]>
}

/** A chain's proof of its own is as long as the headers of so many batches. */
const longestGap = 8

export async function makeRuns(options: Options): Promise<MadeRuns> {
  const { touched, headerOf, chainProofOf } = options
  const strays = new Map<number, readonly string[]>()
  const runs: ExportRun[] = []
  for (const indexes of cutIntoRuns([...touched.keys()].toSorted((a, b) => a - b))) {
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
    runs.push({ headers, proofs, chain: await chainProofOf(last.index) })
  }
  return { runs, strays }
}

function cutIntoRuns(indexes: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const index of indexes) {
    const run = runs.at(-1)
    if (run === undefined || index - (run.at(-1) ?? index) > longestGap) runs.push([index])
    else run.push(index)
  }
  return runs
}

async function proofOf(
  index: number,
  { touched, blobs, keccak }: Options,
): Promise<{ readonly proof: BatchProof | undefined; readonly stray: readonly string[] }> {
  const all = await leavesOf(blobs, index)
  const places = placesOf(all)
  const stray: string[] = []
  const held: number[] = []
  for (const leaf of touched.get(index) ?? []) {
    const at = places.get(keyOf(leaf))
    if (at === undefined) stray.push(toHex(leaf))
    else held.push(at)
  }
  held.sort((a, b) => a - b)
  if (held.length === 0) return { proof: undefined, stray }
  return {
    proof: { index, rows: held.length, ...multiProof(all, held, nodeHash(keccak, 1)) },
    stray,
  }
}
