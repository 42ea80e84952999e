import { isHex, zeroAddress } from 'viem'
import { zeroHash } from '../../core/hex.ts'
import { secondMs } from '../../core/time.ts'
import { TryAgain } from '../../runtime/exit.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import { chainAt } from '../chain/chain.ts'
import { type Ask, RpcRefusal } from '../chain/rpc.ts'
import { isRegistryCode } from '../contract/registry.ts'
import type { Story } from './chain.ts'

/** Every anchor up to the finalized block, asked of a node. @throws TryAgain, RpcRefusal */
export async function readStory(ask: Ask, { contract, block }: Deployment): Promise<Story> {
  // it only reads, so it does not matter whose transactions they are
  const chain = chainAt(ask, contract, zeroAddress)
  const finalized = await chain.finalized()
  if (finalized === undefined || finalized.number < block) throw notThereYet()
  const { number, hash, timeS } = finalized
  const story = { finalized: { number, hash }, finalizedMs: timeS * secondMs }
  const [code, codeNow] = await Promise.all(
    ['finalized', 'latest'].map((when) => known(ask('eth_getCode', [contract, when]))),
  )
  if (code === '0x' && codeNow !== '0x') throw notThereYet()
  // another contract may return anything, so it is not queried
  if (!isHex(code) || !isRegistryCode(code))
    return { ...story, anchors: [], head: zeroHash, isOurCode: false }
  const head = await known(chain.headAt(number))
  return { ...story, anchors: await chain.anchored(block, number), head, isOurCode: true }
}

/**
 * What the contract was like at the finalized block. A node that was started again may know the block
 * and not the state at it: an anvil keeps only the newest state. @throws TryAgain
 */
const known = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof RpcRefusal)) throw cause
    throw new TryAgain(
      `the node does not return the state at its final block (${cause.message}): audit again when the chain has gone on, which takes a demonstration chain half a minute after its start`,
      { cause },
    )
  }
}

const notThereYet = (): TryAgain =>
  new TryAgain('the contract is in no finalized block yet: nothing can be audited')

/** Whether the chain has a block of that hash. @throws TryAgain, RpcRefusal */
export const isBlockOf =
  (ask: Ask) =>
  async (hash: string): Promise<boolean> =>
    field(await ask('eth_getBlockByHash', [hash, false]), 'hash') === hash

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
