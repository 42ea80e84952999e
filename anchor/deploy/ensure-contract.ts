import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { concat, getContractAddress, keccak256, type PrivateKeyAccount, stringToHex } from 'viem'
import { type Hex, lowerHex } from '../../core/hex.ts'
import { secondMs } from '../../core/time.ts'
import { MustAct } from '../../runtime/exit.ts'
import { buckets } from '../../schemas/subjects.ts'
import { openRpc } from '../chain/rpc.ts'
import { isRegistryCode } from '../contract/contract-code.ts'
import { type Beginning, encodeDeployment } from '../contract/registry.ts'
import { deployRegistry } from './deploy.ts'
import { describeContract, keepDeployment } from './deployment.ts'

export type EnsureOptions = {
  /** A chain that gives coin to any account that asks: anvil. */
  readonly url: string
  readonly account: PrivateKeyAccount
  readonly stop: AbortSignal
  /** A contract of version 2. Absent: that of version 1. */
  readonly second?: Second
}

type Second = {
  /** Its place in the order of contracts, from 2. */
  readonly k: number
  readonly beginning: Beginning
}

const rules = { capWei: 1_000_000_000_000n, bumpAfterMs: 60 * secondMs }
const thousandEther = '0x3635c9adc5dea00000'
const gas = '0x16e360'
const pollMs = 100

/**
 * One contract of a demonstration, whose address follows from the writer: the very same one is made
 * again on a chain that was lost. That of version 1 is the first transaction of its writer. One of
 * version 2 is the first of an account that has no key, because anvil sends for any account: the
 * writer's own transactions are one per batch, and must not be counted differently for it.
 */
export function ensureContract({ url, account, stop, second }: EnsureOptions) {
  const ask = openRpc({
    urls: [url],
    timeoutMs: 30 * secondMs,
    expected: { chainId: undefined, genesisHash: undefined },
  })
  const maker = second === undefined ? account.address : makerOf(account.address, second.k)
  const contract = lowerHex(getContractAddress({ from: maker, nonce: 0n }))
  const version = second === undefined ? 1 : 2
  const isThere = async (): Promise<boolean> => {
    const code = await ask('eth_getCode', [contract, 'latest'])
    return typeof code === 'string' && isRegistryCode(`0x${code.slice(2)}`, version)
  }
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop })
  const makeSecond = async ({ beginning }: Second): Promise<void> => {
    const data = encodeDeployment(account.address, account.address, beginning)
    await ask('anvil_impersonateAccount', [maker])
    await ask('eth_sendTransaction', [{ from: maker, data, gas }])
    while (!(await isThere())) await pause(pollMs)
    await ask('anvil_stopImpersonatingAccount', [maker])
  }
  return {
    contract,
    /** @returns whether it had to be made */
    ensure: async (): Promise<boolean> => {
      if (await isThere()) return false
      if (Number(await ask('eth_getTransactionCount', [maker, 'latest'])) > 0)
        throw new MustAct(
          `the chain has transactions of ${maker} and no contract: was its folder mixed with another's?`,
        )
      // the writer anchors in it, and may have made none itself
      for (const payer of new Set([maker, account.address]))
        await ask('anvil_setBalance', [payer, thousandEther])
      if (second === undefined)
        await deployRegistry({ ask, account, owner: account.address, rules, pause, stop })
      else await makeSecond(second)
      return true
    },
    /** Writes it down, once. @throws MustAct these data have anchors in another contract */
    remember: async (nats: NatsConnection): Promise<string> => {
      const kv = await new Kvm(nats).open(buckets.anchoring)
      const recorded = await keepDeployment(
        kv,
        await describeContract(ask, { contract, version, block: 0 }),
        second?.k,
      )
      if (recorded.contract !== contract)
        throw new MustAct(
          `the anchors of these data are in ${recorded.contract}, on another chain: set CHAIN_RPC_URL, or put back its anchor.key`,
        )
      return contract
    },
  }
}

/** An account for one transaction: the hash of a text, so no key of it is known. */
const makerOf = (writer: Hex, k: number): Hex =>
  `0x${keccak256(concat([stringToHex(`airproof demonstration contract ${k} of `), writer])).slice(-40)}`
