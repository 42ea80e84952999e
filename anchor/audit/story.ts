import { isHex, numberToHex, zeroAddress } from 'viem'
import { type Hex, zeroHash } from '../../core/hex.ts'
import { secondMs } from '../../core/time.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import type { BlockId } from '../../schemas/anchoring/batch-record.ts'
import { type AnyDeployment, contractVersionOf } from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import { type Ask, RpcRefusal } from '../chain/rpc.ts'
import { isRegistryCode } from '../contract/contract-code.ts'
import type { Anchored, Began } from '../contract/registry.ts'

/** What the chain holds of one contract up to the finalized block. */
export type ContractStory = {
  readonly deployment: AnyDeployment
  /** The code at the address is that of our contract in its version; if not, nothing below is known. */
  readonly isOurCode: boolean
  /** In the order of the chain. */
  readonly anchors: readonly Anchored[]
  /** The contract's head at that block. */
  readonly head: Hex
  /** How a contract of version 2 began; undefined: it says so nowhere from its first block on. */
  readonly began: Began | undefined
  /** Who may anchor in it, by the latest block; undefined: no account may. */
  readonly writer: Hex | undefined
}

export type Story = {
  /** Everything up to this block was looked at. */
  readonly finalized: BlockId
  /** The time of that block. */
  readonly finalizedMs: number
  /** In the order that they were made, at least one. */
  readonly contracts: readonly ContractStory[]
}

/** Every anchor of every contract up to the finalized block. @throws TryAgain, RpcRefusal, MustAct */
export async function readStory(ask: Ask, deployments: readonly AnyDeployment[]): Promise<Story> {
  assertOneChain(deployments)
  const contracts: ContractStory[] = []
  // one block for all of them
  const finalized = await chainAt(ask, zeroAddress, zeroAddress).finalized()
  if (finalized === undefined) throw notThereYet()
  const { number, hash, timeS } = finalized
  for (const deployment of deployments) contracts.push(await readContract(ask, deployment, number))
  return { finalized: { number, hash }, finalizedMs: timeS * secondMs, contracts }
}

async function readContract(
  ask: Ask,
  deployment: AnyDeployment,
  finalized: number,
): Promise<ContractStory> {
  const { contract, block } = deployment
  if (finalized < block) throw notThereYet(deployment)
  const version = contractVersionOf(deployment)
  // it only reads, so it does not matter whose transactions they are
  const chain = chainAt(ask, contract, zeroAddress, version)
  // at that block, as all else: meanwhile a later one may be final, the first that has the contract
  const [code, codeNow] = await Promise.all(
    [numberToHex(finalized), 'latest'].map((when) => known(ask('eth_getCode', [contract, when]))),
  )
  if (code === '0x' && codeNow !== '0x') throw notThereYet(deployment)
  // another contract may return anything, so it is not queried
  if (!isHex(code) || !isRegistryCode(code, version))
    return {
      deployment,
      anchors: [],
      head: zeroHash,
      began: undefined,
      isOurCode: false,
      writer: undefined,
    }
  const head = await known(chain.headAt(finalized))
  const began = version === 1 ? undefined : await chain.began(block, finalized)
  const anchors = await chain.anchored(block, finalized)
  const { writer } = await known(chain.roles())
  return {
    deployment,
    anchors,
    head,
    began,
    isOurCode: true,
    writer: writer === zeroAddress ? undefined : writer,
  }
}

/** One node is asked about all of them. @throws MustAct */
function assertOneChain(deployments: readonly AnyDeployment[]): void {
  const [first] = deployments
  for (const { chainId, genesisHash, contract } of deployments)
    if (chainId !== first?.chainId || genesisHash !== first.genesisHash)
      throw new MustAct(
        `the operator's record has contract ${contract} on another chain than ${first?.contract}: batches of one network are anchored on one chain`,
      )
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

function notThereYet(deployment?: AnyDeployment): TryAgain {
  const again =
    'audit again then: it takes a demonstration chain half a minute, others some minutes'
  if (deployment === undefined)
    return new TryAgain(`the chain has no finalized block yet: nothing can be audited; ${again}`)
  const { contract, block } = deployment
  const isNext = 'from' in deployment && deployment.from.index > 0
  return new TryAgain(
    isNext
      ? `the data go on after batch ${deployment.from.index} in the new contract ${contract}, which is not final yet, and neither is its first batch: wait until block ${block} is final, and ${again}`
      : `the contract ${contract} is not final yet: nothing can be audited before block ${block} is; ${again}`,
  )
}

/** Whether the chain has a block of that hash. @throws TryAgain, RpcRefusal */
export const isBlockOf =
  (ask: Ask) =>
  async (hash: string): Promise<boolean> =>
    field(await ask('eth_getBlockByHash', [hash, false]), 'hash') === hash

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
