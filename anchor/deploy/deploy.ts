/** Deploys the registry: once in the life of a network, and once more for each that goes on from it. */
import { getContractAddress } from 'viem'
import { type Hex, lowerHex } from '../../core/hex.ts'
import { demonstrationChainId } from '../../core/proof/demonstration-chain.ts'
import { TryAgain, WrongUsage } from '../../runtime/exit.ts'
import type { AnyDeployment } from '../../schemas/anchoring/deployments.ts'
import { isRegistryCode } from '../contract/contract-code.ts'
import { type Beginning, encodeDeployment } from '../contract/registry.ts'
import { describeContract } from './deployment.ts'
import { type SendOptions, sendAndWait } from './send-and-wait.ts'

/** Its account pays, and is the writer. */
type DeployOptions = SendOptions & {
  /** Names another writer if need be; only on the chain, none of our processes has its key. */
  readonly owner: Hex
  /** What version 2 goes on from. Absent: version 1. */
  readonly beginning?: Beginning
}

const gas = 1_500_000n

/**
 * Resolves when the contract is in a block. A crash before that leaves at most one contract too many.
 * @throws WrongUsage the owner is the writer, and the chain is not the demonstration chain
 */
export async function deployRegistry({
  owner,
  beginning,
  ...options
}: DeployOptions): Promise<AnyDeployment> {
  const { ask, account } = options
  assertOwner(owner, account.address, Number(await ask('eth_chainId')))
  // before it is there: the event of its beginning is in a later block
  const block = Number(await ask('eth_blockNumber'))
  const data = encodeDeployment(owner, account.address, beginning)
  const nonce = await sendAndWait(options, { what: 'the contract', data, gas })
  const contract = lowerHex(getContractAddress({ from: account.address, nonce: BigInt(nonce) }))
  const code = await ask('eth_getCode', [contract, 'latest'])
  const version = beginning === undefined ? 1 : 2
  if (typeof code !== 'string' || !isRegistryCode(lowerHex(code), version))
    throw new TryAgain(`the chain no longer has the contract ${contract}: deploy it again`)
  return describeContract(ask, { contract, version, block })
}

/** @throws WrongUsage a stolen writer's key would own the contract for ever */
function assertOwner(owner: Hex, writer: Hex, chainId: number): void {
  if (chainId === demonstrationChainId || owner.toLowerCase() !== writer.toLowerCase()) return
  throw new WrongUsage(
    `--owner must name an account other than the writer ${writer}: the writer's key is on a server, and a thief could never be shut out of a contract that it owns`,
  )
}
