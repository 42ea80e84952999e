/** Deploys the registry: once in the life of a network. */
import { getContractAddress, type PrivateKeyAccount } from 'viem'
import type { Hex } from '../../core/hex.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import { type Chain, chainAt } from '../chain/chain.ts'
import { type FeeRules, offer } from '../chain/fees.ts'
import { type Ask, RpcRefusal } from '../chain/rpc.ts'
import { isRegistryCode } from '../contract/contract-code.ts'
import { encodeDeployment } from '../contract/registry.ts'
import { describeDeployment } from './deployment.ts'

type DeployOptions = {
  readonly ask: Ask
  /** Signs and pays, and is the writer. */
  readonly account: PrivateKeyAccount
  /** Names another writer if need be; only on the chain, no process of ours has its key. */
  readonly owner: Hex
  readonly rules: FeeRules
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

const gasLimit = 1_500_000n
const pollMs = 250

/** Resolves when the contract is in a block. A crash before that leaves at most a contract more. */
export async function deployRegistry(options: DeployOptions): Promise<Deployment> {
  const { ask, account, owner, rules, pause, stop } = options
  const chain = chainAt(ask, lower(account.address), account.address)
  const nonce = Number(await ask('eth_getTransactionCount', [account.address, 'latest']))
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: Number(await ask('eth_chainId')),
    data: encodeDeployment(owner, account.address),
    nonce,
    gas: gasLimit,
    ...(await feesNow(chain, rules)),
  })
  const { answer, words } = await chain.send(raw)
  if (answer !== 'pooled')
    throw new MustAct(
      answer === 'no_funds'
        ? `${account.address} cannot pay for the contract: send it some of the chain's coin`
        : `the node refused the contract: ${words || answer}`,
    )
  const contract = lower(getContractAddress({ from: account.address, nonce: BigInt(nonce) }))
  while (!stop.aborted) {
    const code = await ask('eth_getCode', [contract, 'latest'])
    if (typeof code === 'string' && isRegistryCode(lower(code))) {
      const block = Number(await ask('eth_blockNumber'))
      return describeDeployment(ask, contract, block)
    }
    await pause(pollMs)
  }
  throw new TryAgain('stopped before the contract was in a block')
}

async function feesNow(chain: Chain, rules: FeeRules) {
  const block = await chain.ask('eth_getBlockByNumber', ['latest', false])
  const baseFee =
    typeof block === 'object' && block !== null && 'baseFeePerGas' in block
      ? BigInt(String(block.baseFeePerGas))
      : 0n
  const fees = offer(await chain.market(baseFee), rules)
  if (fees === undefined)
    throw new TryAgain('the chain asks for more than ANCHOR_MAX_FEE_GWEI allows: try later')
  return fees
}

function lower(text: string): Hex {
  if (!text.startsWith('0x')) throw new RpcRefusal(`not hex: ${text}`, 0, undefined)
  return `0x${text.slice(2).toLowerCase()}`
}
