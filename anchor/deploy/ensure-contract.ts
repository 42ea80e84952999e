import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { getContractAddress, type PrivateKeyAccount } from 'viem'
import type { Hex } from '../../core/hex.ts'
import { secondMs } from '../../core/time.ts'
import { MustAct } from '../../runtime/exit.ts'
import { buckets } from '../../schemas/subjects.ts'
import { openRpc } from '../chain/rpc.ts'
import { isRegistryCode } from '../contract/contract-code.ts'
import { deployRegistry } from './deploy.ts'
import { describeDeployment, keepDeployment } from './deployment.ts'

type Options = {
  /** A chain that gives coin to whoever asks: anvil. */
  readonly url: string
  readonly account: PrivateKeyAccount
  readonly stop: AbortSignal
}

const rules = { capWei: 1_000_000_000_000n, bumpAfterMs: 60 * secondMs }
const thousandEther = '0x3635c9adc5dea00000'

/** The contract of a demonstration: the first thing that its writer ever did. */
export function ensureContract({ url, account, stop }: Options) {
  const ask = openRpc({
    urls: [url],
    timeoutMs: 30 * secondMs,
    expected: { chainId: undefined, genesisHash: undefined },
  })
  const contract: Hex = `0x${getContractAddress({ from: account.address, nonce: 0n }).slice(2).toLowerCase()}`
  const isThere = async (): Promise<boolean> => {
    const code = await ask('eth_getCode', [contract, 'latest'])
    return typeof code === 'string' && isRegistryCode(`0x${code.slice(2)}`)
  }
  return {
    /** @returns whether it had to be made */
    ensure: async (): Promise<boolean> => {
      if (await isThere()) return false
      if (Number(await ask('eth_getTransactionCount', [account.address, 'latest'])) > 0)
        throw new MustAct(
          `the chain has transactions of ${account.address} and no contract: was its folder mixed with another's?`,
        )
      await ask('anvil_setBalance', [account.address, thousandEther])
      await deployRegistry({
        ask,
        account,
        owner: account.address,
        rules,
        pause: (ms) => sleep(ms, undefined, { signal: stop }),
        stop,
      })
      return true
    },
    /** Writes it down, once. @throws MustAct where these data have anchors in another contract */
    remember: async (nats: NatsConnection): Promise<string> => {
      const kv = await new Kvm(nats).open(buckets.anchoring)
      const kept = await keepDeployment(kv, await describeDeployment(ask, contract, 0))
      if (kept.contract !== contract)
        throw new MustAct(
          `the anchors of these data are in ${kept.contract}, on another chain: set CHAIN_RPC_URL, or put back its anchor.key`,
        )
      return contract
    },
  }
}
