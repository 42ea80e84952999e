import type { Hex } from '../../core/hex.ts'
import { beginningOf, type ChainRecord } from '../../core/proof/chain-record.ts'
import { recordOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { SealedBatch } from '../../schemas/anchoring/batch-record.ts'
import type { AnyDeployment, Deployment2 } from '../../schemas/anchoring/deployments.ts'
import { encodeAnchorCall } from '../contract/registry.ts'
import type { SealedBatches } from '../sealed-batches.ts'

type Options = {
  readonly deployment: AnyDeployment
  readonly batches: Pick<SealedBatches, 'get'>
  readonly keccak: Keccak
}

/** @returns `data` of the transaction that anchors a batch in the contract of the deployment */
export function anchorCalls({ deployment, batches, keccak }: Options) {
  /** The record whose hash is the contract's head before the batch. */
  const recordBefore = (index: number, { from, ...place }: Deployment2): ChainRecord => {
    if (index === from.index + 1) return beginningOf({ ...place, from }, keccak)
    const before = batches.get(index - 1)
    if (before === undefined)
      throw new Error(`batch ${index} is sealed, and batch ${index - 1} is not`)
    return recordOf(before.header, keccak)
  }
  return ({ header, headerHash }: SealedBatch): Hex =>
    encodeAnchorCall({
      ...header,
      headerHash,
      ...('from' in deployment && { prev: recordBefore(header.index, deployment) }),
    })
}
