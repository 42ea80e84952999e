/** Shuts a contract of a demonstration chain once a later one goes on from its last batch. */
import { zeroAddress } from 'viem'
import { zeroHash } from '../../core/hex.ts'
import { type AnyDeployment, contractVersionOf } from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import type { Ask } from '../chain/rpc.ts'

/** Of the contracts of either version: after `head`. */
const writerSlot = '0x1'

/**
 * Takes the writer away from contracts that were given up, as their owners do on any other chain. Here owner and
 * writer are one account, whose transactions are one per batch and must not be counted differently for
 * this. So anvil writes it into the contract's storage.
 * @param deployments all of them, the newest last  @returns those that were shut
 */
export async function closeFormer(
  ask: Ask,
  deployments: readonly AnyDeployment[],
): Promise<readonly AnyDeployment[]> {
  const closed: AnyDeployment[] = []
  for (const deployment of deployments.slice(0, -1)) {
    const { contract } = deployment
    const { writer } = await chainAt(
      ask,
      contract,
      zeroAddress,
      contractVersionOf(deployment),
    ).roles()
    if (writer === zeroAddress) continue
    await ask('anvil_setStorageAt', [contract, writerSlot, zeroHash])
    closed.push(deployment)
  }
  return closed
}
