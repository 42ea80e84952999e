/**
 * Which of the contracts this process seals and sends for. It is the newest, unless a chain came back
 * without the anchors of one before it: a demonstration chain that was lost, on which the contracts
 * were made again. Then these come first, because the writer's transactions have an order.
 */
import { zeroAddress } from 'viem'
import {
  type AnyDeployment,
  beginsAfter,
  contractVersionOf,
} from '../schemas/anchoring/deployments.ts'
import { chainAt } from './chain/chain.ts'
import { type Ask, ChainAway, RpcRefusal } from './chain/rpc.ts'
import type { SealedBatches } from './sealed-batches.ts'

export type ContractWork = {
  readonly deployment: AnyDeployment
  /** The last batch of the contract; Infinity for the newest. */
  readonly until: number
}

type Options = {
  /** In the order that they were made, at least one. */
  readonly deployments: readonly [AnyDeployment, ...AnyDeployment[]]
  readonly ask: Ask
  readonly batches: Pick<SealedBatches, 'indexOfHead'>
}

export async function contractToWorkOn({
  deployments,
  ask,
  batches,
}: Options): Promise<ContractWork> {
  for (const [k, deployment] of deployments.entries()) {
    const next = deployments[k + 1]
    if (next === undefined) break
    const until = beginsAfter(next)
    const index = await lastAnchored(deployment, { ask, batches })
    // a head that no batch left is why there is another contract
    if (index !== undefined && index < until) return { deployment, until }
  }
  return { deployment: deployments.at(-1) ?? deployments[0], until: Infinity }
}

/** @returns undefined: the contract holds a head that none of our batches left, or the chain does not answer */
async function lastAnchored(
  deployment: AnyDeployment,
  { ask, batches }: Pick<Options, 'ask' | 'batches'>,
): Promise<number | undefined> {
  const chain = chainAt(ask, deployment.contract, zeroAddress, contractVersionOf(deployment))
  try {
    const { head } = await chain.look()
    return batches.indexOfHead(head)
  } catch (error) {
    if (error instanceof ChainAway || error instanceof RpcRefusal) return undefined
    throw error
  }
}
