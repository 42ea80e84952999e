/** Which contracts all of this is about: bucket `anchoring`, each entry written once. */

import type { KV } from '@nats-io/kv'
import { type Hex, isHash } from '../../core/hex.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { Logger } from '../../runtime/log.ts'
import { readEntry } from '../../runtime/nats/read-entry.ts'
import { type Deployment, parseDeployment } from '../../schemas/anchoring/batch-record.ts'
import {
  type AnyDeployment,
  deploymentKeyOf,
  parseDeployment2,
} from '../../schemas/anchoring/deployments.ts'
import { type Ask, ChainAway, genesisOf, openRpc, WrongChain } from '../chain/rpc.ts'
import type { ChainSettings } from '../config.ts'
import { isRegistryCode } from '../contract/contract-code.ts'

/** The contract of version 1. @throws MustAct */
export const readDeployment = (kv: KV): Promise<Deployment | undefined> => readAt(kv, 1)

/** Every contract, in the order they were made; the last one is anchored to. @throws MustAct */
export async function readDeployments(kv: KV): Promise<readonly AnyDeployment[]> {
  const [first, found] = [await readAt(kv, 1), [] as AnyDeployment[]]
  if (first !== undefined) found.push(first)
  // an instance that was made at format level 3 has no first one
  for (let k = 2; ; k++) {
    const next = await readAt(kv, k)
    if (next === undefined) return found
    found.push(next)
  }
}

async function readAt(kv: KV, k: number): Promise<AnyDeployment | undefined> {
  const key = deploymentKeyOf(k)
  const value = await readEntry(kv, key, null)
  const deployment = k === 1 ? parseDeployment(value) : parseDeployment2(value)
  // taken for missing, it would lead to another contract
  if (value !== undefined && deployment === undefined)
    throw new MustAct(
      `the entry \`${key}\` of bucket \`anchoring\` cannot be read: restore it from a backup`,
    )
  return deployment
}

/**
 * @param k its place in the order of contracts: 1 for version 1
 * @returns the deployment that counts: another process may have been quicker
 */
export async function keepDeployment(
  kv: KV,
  deployment: AnyDeployment,
  k = 1,
): Promise<AnyDeployment> {
  const kept = await readAt(kv, k)
  if (kept !== undefined) return kept
  await kv.create(deploymentKeyOf(k), JSON.stringify(deployment)).catch(() => undefined)
  return (await readAt(kv, k)) ?? keepDeployment(kv, deployment, k)
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

/** What a node says of the chain and a contract on it. @throws MustAct where it says nothing */
export async function describeDeployment(
  ask: Ask,
  contract: Hex,
  block: number,
): Promise<Deployment> {
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
 * The deployment of this data, checked against the chain where that answers. Where it does not,
 * sealing goes on without it; only the very first start has to wait for it.
 * @throws MustAct where there is no contract, or the chain is another one
 */
export async function findDeployment(
  kv: KV,
  settings: ChainSettings,
  { pause, stop, log }: Waiting,
): Promise<Deployment> {
  const { rpcUrls: urls, rpcTimeoutMs: timeoutMs, chainId } = settings
  if (urls.length === 0) throw new MustAct('no chain to anchor to: set CHAIN_RPC_URL')
  const kept = await readDeployment(kv)
  if (kept !== undefined) assertFits(kept, settings)
  const expected = { chainId: kept?.chainId ?? chainId, genesisHash: kept?.genesisHash }
  const ask = openRpc({ urls, timeoutMs, expected })
  for (;;) {
    try {
      const contract = kept?.contract ?? settings.contract
      if (contract === undefined)
        throw new MustAct(
          'no contract to anchor to: `airproof anchor deploy` makes one, or set ANCHOR_CONTRACT',
        )
      const address: Hex = `0x${contract.slice(2)}`
      const code = await ask('eth_getCode', [address, 'latest'])
      if (typeof code !== 'string' || !isRegistryCode(`0x${code.slice(2)}`))
        throw new MustAct(`there is no contract of ours at ${address} on this chain`)
      const from = settings.contractBlock
      return kept ?? (await keepDeployment(kv, await describeDeployment(ask, address, from)))
    } catch (error) {
      if (error instanceof WrongChain) throw new MustAct(error.message, { cause: error })
      if (!(error instanceof ChainAway)) throw error
      if (kept !== undefined) return kept
      log.warn('the chain does not answer: waiting for it')
      await pause(retryMs)
      stop.throwIfAborted()
    }
  }
}
