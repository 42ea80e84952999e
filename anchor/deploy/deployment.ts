/** Which contracts all of this is about: bucket `anchoring`, each entry written once. */

import type { KV } from '@nats-io/kv'
import { type Hex, isHash, lowerHex } from '../../core/hex.ts'
import { noContract } from '../../core/proof/chain-record.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { Logger } from '../../runtime/log.ts'
import { readDeploymentAt, readDeployments } from '../../runtime/nats/read-deployments.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import {
  type AnyDeployment,
  contractVersionOf,
  type Deployments,
  deploymentKeyOf,
} from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import { type Ask, ChainAway, genesisOf, openRpc, WrongChain } from '../chain/rpc.ts'
import type { ChainSettings } from '../config.ts'
import { versionOfCode } from '../contract/contract-code.ts'

/**
 * @param k its place in the order of contracts: 1 for version 1
 * @returns the deployment that counts: another process may have been quicker
 */
export async function keepDeployment(
  kv: KV,
  deployment: AnyDeployment,
  k = 1,
): Promise<AnyDeployment> {
  const recorded = await readDeploymentAt(kv, k)
  if (recorded !== undefined) return recorded
  await kv.create(deploymentKeyOf(k), JSON.stringify(deployment)).catch(() => undefined)
  return (await readDeploymentAt(kv, k)) ?? keepDeployment(kv, deployment, k)
}

/** @throws MustAct where the settings name another chain or contract than what was anchored to */
export function assertFits(deployment: Deployment, settings: ChainSettings): void {
  const { chainId, contract } = settings
  if (chainId !== undefined && chainId !== deployment.chainId)
    throw new MustAct(
      `CHAIN_ID is ${chainId}, and the anchors of this data are on chain ${deployment.chainId}: another chain needs another AIRPROOF_DATA / NATS_URL`,
    )
  if (contract !== undefined && contract !== deployment.contract)
    throw new MustAct(
      `ANCHOR_CONTRACT is ${contract}, and the anchors of this data are in ${deployment.contract}: another contract needs another AIRPROOF_DATA / NATS_URL`,
    )
}

/** The chain of a contract, by a node. @throws MustAct the node does not know its first block */
async function describeDeployment(ask: Ask, contract: Hex, block: number): Promise<Deployment> {
  const genesisHash = await genesisOf(ask)
  if (typeof genesisHash !== 'string' || !isHash(genesisHash))
    throw new MustAct('the node does not know the first block of its chain: use another one')
  return { chainId: Number(await ask('eth_chainId')), genesisHash, contract, block }
}

type Waiting = {
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  readonly log: Logger
}

const retryMs = 1_000

/**
 * The contracts of this data in their order, the newest checked against the chain where that answers.
 * Where it does not, sealing goes on without it; only the very first start has to wait for it.
 * @throws MustAct where there is no contract, or the chain is another one
 */
export async function findDeployments(
  kv: KV,
  settings: ChainSettings,
  { pause, stop, log }: Waiting,
): Promise<Deployments> {
  const { rpcUrls: urls, rpcTimeoutMs: timeoutMs, chainId } = settings
  if (urls.length === 0) throw new MustAct('no chain to anchor to: set CHAIN_RPC_URL')
  const [first, ...others] = await readDeployments(kv)
  const stored: Deployments | undefined = first && [first, ...others]
  const newest = stored?.at(-1)
  if (newest !== undefined) assertFits(newest, settings)
  const expected = { chainId: newest?.chainId ?? chainId, genesisHash: newest?.genesisHash }
  const ask = openRpc({ urls, timeoutMs, expected })
  for (;;) {
    try {
      const contract = newest?.contract ?? settings.contract
      if (contract === undefined)
        throw new MustAct(
          'no contract to anchor to: `airproof anchor deploy` makes one, or set ANCHOR_CONTRACT',
        )
      const address: Hex = `0x${contract.slice(2)}`
      const version = await versionOn(ask, address)
      if (version !== (newest === undefined ? version : contractVersionOf(newest)))
        throw new MustAct(
          `the contract at ${address} on this chain is not the one that was deployed`,
        )
      if (stored !== undefined) return stored
      const from = settings.contractBlock
      const described = await describeContract(ask, { contract: address, version, block: from })
      return [await keepDeployment(kv, described, version)]
    } catch (error) {
      if (error instanceof WrongChain) throw new MustAct(error.message, { cause: error })
      if (!(error instanceof ChainAway)) throw error
      if (stored !== undefined) return stored
      log.warn('the chain does not answer: waiting for it')
      await pause(retryMs)
      stop.throwIfAborted()
    }
  }
}

/** @throws MustAct there is no contract of ours */
export async function versionOn(ask: Ask, address: Hex): Promise<ContractVersion> {
  const code = await ask('eth_getCode', [address, 'latest'])
  const version = typeof code === 'string' ? versionOfCode(`0x${code.slice(2)}`) : undefined
  if (version === undefined)
    throw new MustAct(`there is no contract of ours at ${address} on this chain`)
  return version
}

type Described = {
  readonly contract: Hex
  readonly version: ContractVersion
  readonly block: number
}

/** What the chain knows of a contract of ours, its beginning included. @throws MustAct */
export async function describeContract(
  ask: Ask,
  { contract, version, block }: Described,
): Promise<AnyDeployment> {
  const deployment = await describeDeployment(ask, contract, block)
  if (version === 1) return deployment
  const chain = chainAt(ask, contract, noContract, version)
  const began = await chain.began(block, Number(await ask('eth_blockNumber')))
  if (began === undefined)
    throw new MustAct(
      `the chain does not report how ${contract} began: ANCHOR_CONTRACT_BLOCK must be its block, or one before`,
    )
  return { version: 2, ...deployment, former: lowerHex(began.former), from: began.from }
}
