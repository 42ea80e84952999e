/**
 * One story of several contracts. Of each contract those anchors count that no later contract goes on
 * from before: what came after them in the old contract is abandoned, and is anchored again in the new.
 */
import { type BatchEnd, endOfRecord } from '../../core/proof/batch.ts'
import { beginningOf } from '../../core/proof/chain-record.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import { contractVersionOf, startOf } from '../../schemas/anchoring/deployments.ts'
import type { Anchored } from '../contract/registry.ts'
import type { ContractStory } from './story.ts'

export type Part = {
  readonly story: ContractStory
  readonly version: ContractVersion
  /** The last batch that is not of this contract but of one before it. */
  readonly after: number
  /** In the order of the chain: the place of batch i is i − after − 1 where nothing is wrong. */
  readonly counted: readonly Anchored[]
  readonly abandoned: readonly Anchored[]
}

/** Where a contract goes on from: by its own event, which could not be written later. */
const afterOf = ({ deployment, began }: ContractStory): number =>
  began?.from.index ?? ('from' in deployment ? deployment.from.index : 0)

export const partsOf = (contracts: readonly ContractStory[]): readonly Part[] =>
  contracts.map((story, k) => {
    const after = afterOf(story)
    const until = Math.min(...contracts.slice(k + 1).map(afterOf), Infinity)
    const count = Math.max(0, until - after)
    return {
      story,
      version: contractVersionOf(story.deployment),
      after,
      counted: story.anchors.slice(0, count),
      abandoned: story.anchors.slice(count),
    }
  })

/** How many batches count, of all contracts. */
export const countedOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, { counted }) => sum + counted.length, 0)

/** The end before the first batch of a contract, as the chain vouches for it. */
export function startOfPart({ story: { deployment, began } }: Part, keccak: Keccak): BatchEnd {
  if (began === undefined) return startOf(deployment, keccak)
  const { chainId, contract } = deployment
  return endOfRecord(beginningOf({ chainId, contract, ...began }, keccak), keccak)
}
