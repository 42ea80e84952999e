import { zeroAddress } from 'viem'
import { TryAgain } from '../runtime/exit.ts'
import type { Deployment } from '../schemas/batch-record.ts'
import type { Story } from './audit-chain.ts'
import { chainAt } from './chain.ts'
import type { Ask } from './rpc.ts'

/** Every anchor up to the finalized block, asked of a node. @throws TryAgain, RpcRefusal */
export async function readStory(ask: Ask, { contract, block }: Deployment): Promise<Story> {
  // it only asks, so whose transactions they are is all the same
  const chain = chainAt(ask, contract, zeroAddress)
  const { finalized, finalHead: head } = await chain.look()
  if (head === undefined || finalized.number < block)
    throw new TryAgain('the contract is in no finalized block yet: nothing can be audited')
  return { anchors: await chain.anchored(block, finalized.number), finalized, head }
}

/** Whether the chain has a block of that hash. @throws TryAgain, RpcRefusal */
export const isBlockOf =
  (ask: Ask) =>
  async (hash: string): Promise<boolean> =>
    field(await ask('eth_getBlockByHash', [hash, false]), 'hash') === hash

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
