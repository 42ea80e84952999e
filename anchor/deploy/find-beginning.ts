/** What a new contract goes on from: the record of the last batch that counts, held against the chain. */
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { recordOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import type { SealedBatch } from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  contractVersionOf,
  deploymentOfBatch,
} from '../../schemas/anchoring/deployments.ts'
import { type Chain, chainAt } from '../chain/chain.ts'
import type { Ask } from '../chain/rpc.ts'
import type { Beginning } from '../contract/registry.ts'

type Options = {
  readonly ask: Ask
  readonly keccak: Keccak
  /** Every contract so far, in order. */
  readonly deployments: readonly AnyDeployment[]
  /** By index, without a gap. */
  readonly sealed: ReadonlyMap<number, SealedBatch>
  /**
   * The last batch that counts, which a person names: after it the contract holds what is not ours.
   * Absent: all that are sealed count, and must be final.
   */
  readonly fromBatch?: number
}

/** @throws MustAct the chain does not hold the batch, or holds something else after it; TryAgain */
export async function findBeginning(options: Options): Promise<Beginning> {
  const { ask, deployments, keccak, sealed, fromBatch } = options
  const index = fromBatch ?? sealed.size
  if (index > sealed.size)
    throw new MustAct(`there is no batch ${index}: the last one that is sealed is ${sealed.size}`)
  if (index === 0) return { former: noContract, from: noRecord }
  const batch = sealed.get(index)
  const former = deploymentOfBatch(deployments, index)
  if (batch === undefined || former === undefined)
    throw new MustAct(`bucket \`batches\` lacks batch ${index}: restore it from a backup`)
  const { contract, block } = former
  const chain = chainAt(ask, contract, noContract, contractVersionOf(former))
  const finalized = await chain.finalized()
  if (finalized === undefined || finalized.number < block)
    throw new TryAgain(`the contract ${contract} is in no finalized block yet: try again later`)
  if (fromBatch === undefined) await assertAllFinal(chain, finalized.number, options)
  else await assertAnchored(chain, { from: block, to: finalized.number }, batch)
  return { former: contract, from: recordOf(batch.header, keccak) }
}

/** @throws MustAct batches are sealed that no finalized block holds: their place is the old contract */
async function assertAllFinal(chain: Chain, finalized: number, { sealed }: Options): Promise<void> {
  const last = sealed.size
  const head = await chain.headAt(finalized)
  if (sealed.get(last)?.head === head) return
  const isBeforeAll = sealed.get(1)?.header.prevHead === head
  const anchored = [...sealed.values()].find((batch) => batch.head === head)?.header.index
  if (anchored === undefined && !isBeforeAll)
    throw new MustAct(
      `the contract holds head ${head}, which no batch of ours left: name the last good batch with --from-batch (docs/chain.md)`,
    )
  throw new MustAct(
    `batches ${(anchored ?? 0) + 1} to ${last} are sealed and not final yet: wait until \`airproof anchor\` has anchored them, and deploy again`,
  )
}

type Blocks = { readonly from: number; readonly to: number }

/** @throws MustAct */
async function assertAnchored(chain: Chain, blocks: Blocks, { header, head }: SealedBatch) {
  const anchors = await chain.anchored(blocks.from, blocks.to)
  if (anchors.some((anchor) => anchor.index === header.index && anchor.head === head)) return
  throw new MustAct(
    `batch ${header.index} is in no finalized block of its contract as we sealed it, so nothing can go on from it: name an earlier one`,
  )
}
