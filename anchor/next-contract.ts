import type { NatsConnection } from '@nats-io/transport-node'
import type { PrivateKeyAccount } from 'viem'
import { recordOf } from '../core/proof/header.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import type { AnyDeployment } from '../schemas/anchoring/deployments.ts'
import { ContractChanged } from './contract-changed.ts'
import { ensureContract } from './deploy/ensure-contract.ts'
import type { SealedBatches } from './sealed-batches.ts'
import type { Alarm } from './send/alarm.ts'

type Options = {
  readonly rpcUrls: readonly string[]
  /** The chain is the anvil of `airproof up`. */
  readonly makesContracts: boolean
  readonly account: PrivateKeyAccount
  readonly batches: Pick<SealedBatches, 'get'>
  readonly keccak: Keccak
  readonly nats: NatsConnection
  readonly stop: AbortSignal
}

const words =
  'readings of format level 3 wait for contract 2: stop `airproof anchor`, run `airproof anchor deploy --owner ADDRESS`, start it again (docs/chain.md)'

/**
 * @returns what follows the last batch of contract 1: on a demonstration chain contract 2 is made, on
 * any other an operator deploys it. @throws ContractChanged contract 2 is there: begin again with it
 */
export const openNextContract =
  (
    { rpcUrls, makesContracts, account, batches, keccak, nats, stop }: Options,
    former: AnyDeployment,
  ) =>
  async (index: number): Promise<Alarm> => {
    const [url] = rpcUrls
    const last = batches.get(index)
    if (!makesContracts || url === undefined || last === undefined)
      return { reason: 'CONTRACT', words }
    const beginning = { former: former.contract, from: recordOf(last.header, keccak) }
    const contract = ensureContract({ url, account, stop, second: { k: 2, beginning } })
    await contract.ensure()
    const address = await contract.remember(nats)
    throw new ContractChanged(
      `contract 2 is at ${address}: batch ${index + 1} is the first one in it`,
    )
  }
