/** What the holder of the lease does, from what the process has opened: it works for one contract. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { PrivateKeyAccount } from 'viem'
import type { Keccak } from '../core/proof/leaf.ts'
import { secondMs } from '../core/time.ts'
import type { Logger } from '../runtime/log.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { startOf } from '../schemas/anchoring/deployments.ts'
import { type Anchoring, startAnchoring } from './anchoring.ts'
import { openRpc } from './chain/rpc.ts'
import type { AnchorConfig } from './config.ts'
import { contractToWorkOn } from './contract-to-work-on.ts'
import { closeFormer } from './deploy/close-former.ts'
import type { AnchorMetrics } from './metrics.ts'
import { openNextContract } from './next-contract.ts'
import type { Records } from './open-records.ts'
import { openSender } from './send/open-sender.ts'

type Options = Records & {
  readonly nc: NatsConnection
  readonly settings: AnchorConfig
  readonly account: PrivateKeyAccount
  readonly keccak: Keccak
  /** Bucket `system`. */
  readonly system: KV
  readonly metrics: AnchorMetrics
  readonly nowMs: () => number
  readonly life: Pick<Lifetime, 'fail'>
  readonly stop: AbortSignal
  readonly log: Logger
}

/** @returns starts it, each time that the lease is held */
export async function openWork(options: Options): Promise<() => Anchoring> {
  const { nc, settings, account, keccak, batches, deployments, life, stop, log } = options
  const [{ chainId, genesisHash }] = deployments
  const ask = openRpc({
    urls: settings.rpcUrls,
    timeoutMs: settings.rpcTimeoutMs,
    expected: { chainId, genesisHash },
    onTrouble: (host, why) => log.warn({ host, err: why }, 'a node of the chain does not do'),
  })
  const work = await contractToWorkOn({ deployments, ask, batches })
  const { deployment } = work
  const next = { ...settings, account, batches, keccak, nats: nc, stop }
  return () => {
    const { contract } = deployment
    log.info({ chain: chainId, contract, writer: account.address }, 'anchoring')
    const tick = openSender({
      ...options,
      ...work,
      ask,
      rules: settings.fees,
      recheckMs: Math.max(settings.pollMs, 2 * secondMs),
    })
    return startAnchoring({
      ...options,
      ...work,
      start: startOf(deployment, keccak),
      tick,
      nextContract: openNextContract(next, deployment),
      closeFormer: async () => (settings.makesContracts ? await closeFormer(ask, deployments) : []),
      onFatal: life.fail,
    })
  }
}
