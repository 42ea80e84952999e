/** One transaction of a command: signed, sent, and in a block when it resolves. */
import { keccak256, type PrivateKeyAccount } from 'viem'
import type { Hex } from '../../core/hex.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { type Chain, chainAt } from '../chain/chain.ts'
import { type FeeRules, offer } from '../chain/fees.ts'
import type { Ask } from '../chain/rpc.ts'

export type SendOptions = {
  readonly ask: Ask
  /** Signs and pays. */
  readonly account: PrivateKeyAccount
  readonly rules: FeeRules
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

type Transaction = {
  /** What it is for, in the sentence about what went wrong. */
  readonly what: string
  readonly data: Hex
  readonly gas: bigint
  /** Absent: it creates a contract. */
  readonly to?: Hex
}

const pollMs = 250

/** @returns its nonce  @throws MustAct, TryAgain */
export async function sendAndWait(
  { ask, account, rules, pause, stop }: SendOptions,
  { what, data, gas, to }: Transaction,
): Promise<number> {
  const chain = chainAt(ask, to ?? account.address, account.address)
  const nonce = Number(await ask('eth_getTransactionCount', [account.address, 'latest']))
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: Number(await ask('eth_chainId')),
    ...(to && { to }),
    data,
    nonce,
    gas,
    ...(await feesNow(chain, rules)),
  })
  const { answer, words } = await chain.send(raw)
  if (answer !== 'pooled')
    throw new MustAct(
      answer === 'no_funds'
        ? `${account.address} cannot pay for ${what}: send it some of the chain's coin`
        : `the node refused ${what}: ${words || answer}`,
    )
  const hash = keccak256(raw)
  while (!stop.aborted) {
    const outcome = await chain.outcome(hash)
    if (outcome?.status === 'success') return nonce
    if (outcome !== undefined)
      throw new MustAct(`the contract refused ${what}: see transaction ${hash}`)
    await pause(pollMs)
  }
  throw new TryAgain(
    `stopped before ${what} was in a block: transaction ${hash} may still be mined`,
  )
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
