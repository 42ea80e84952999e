/** Where contracts that were given up end, from the records of their last batches and the proofs of these. */

import type { ChainProof } from '../../core/proof/bundle.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import { lastBatchOf } from '../../schemas/anchoring/deployments.ts'
import type { ContractEnd } from './network.ts'

type Options = {
  readonly index: Pick<BatchIndex, 'deployments' | 'sealed' | 'anchored'>
  readonly chainProofOf: (batch: number) => Promise<ChainProof | undefined>
}

/** @returns by the index of the batch; one that is not final now is not there */
export async function contractEnds({
  index,
  chainProofOf,
}: Options): Promise<ReadonlyMap<number, ContractEnd>> {
  const deployments = index.deployments()
  const lasts = new Set(deployments.map((_, k) => lastBatchOf(deployments, k) ?? 0))
  const ends = new Map<number, ContractEnd>()
  for (const last of lasts) {
    const [sealed, anchored] = [index.sealed(last), index.anchored(last)]
    if (sealed === undefined || anchored?.status !== 'final') continue
    const proof = await chainProofOf(last)
    // the chain went back meanwhile: another block holds it now
    if (proof?.blockHash !== anchored.blockHash) continue
    const { blockNumber: block, txIndex } = proof
    ends.set(last, { block, txIndex, head: sealed.head, nLast: sealed.header.nLast })
  }
  return ends
}
