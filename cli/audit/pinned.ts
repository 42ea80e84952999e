import type { ChainSettings } from '../../anchor/config.ts'
import { assertFits } from '../../anchor/deploy/deployment.ts'
import type { Network } from '../../anchor/verifier/airproof-verify.js'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'
import { networkFlag } from '../shell/network-flag.ts'
import { textFlag, wholeFlag } from '../shell/words.ts'

/** What the person who asks names is held against the operator's record. @throws MustAct, WrongUsage */
export function pinned(
  deployment: Deployment,
  settings: ChainSettings,
  flags: Flags,
): Deployment & { readonly isPinned: boolean } {
  assertFits(deployment, settings)
  const contract = textFlag(flags, 'contract')?.toLowerCase()
  if (contract !== undefined && !/^0x[0-9a-f]{40}$/.test(contract))
    throw new WrongUsage(`--contract must be an address, and is "${contract}"`)
  if (contract !== undefined && contract !== deployment.contract)
    throw new MustAct(
      `these data are anchored in contract ${deployment.contract}, and not in ${contract}, which you named`,
    )
  const network = networkFlag(flags)
  const begin = network && beginIn(network, deployment)
  const block = wholeFlag(flags, 'block', { min: 0 }) ?? begin ?? deployment.block
  return { ...deployment, block, isPinned: (contract ?? network) !== undefined }
}

/** Where the contract of these data began, as the network file says. @throws MustAct if it is not in the file */
function beginIn({ name, chainId, contracts }: Network, deployment: Deployment): number {
  if (chainId !== deployment.chainId)
    throw new MustAct(
      `these data are anchored on chain ${deployment.chainId}, and the network ${name}, which you named, is on chain ${chainId}`,
    )
  const pinned = contracts.find(({ address }) => address === deployment.contract)
  if (pinned === undefined)
    throw new MustAct(
      `these data are anchored in contract ${deployment.contract}, which is not one of the network ${name}, which you named`,
    )
  const known: Readonly<Record<number, { readonly hash: string }>> = contractCodes
  if (known[pinned.version]?.hash !== pinned.code_hash)
    throw new MustAct(
      `the network file names code that this airproof does not know as version ${pinned.version} of the contract: use a newer airproof, or another file`,
    )
  return pinned.block
}
