import type { ChainSettings } from '../../anchor/config.ts'
import { assertFits } from '../../anchor/deploy/deployment.ts'
import type { Network } from '../../anchor/verifier/airproof-verify.js'
import type { Keccak } from '../../core/proof/leaf.ts'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import { contractCodes } from '../../schemas/anchoring/contract-code.ts'
import type { Deployments } from '../../schemas/anchoring/deployments.ts'
import {
  type AnyDeployment,
  contractVersionOf,
  startOf,
} from '../../schemas/anchoring/deployments.ts'
import { networkFlag } from '../shell/network-flag.ts'
import { textFlag, wholeFlag } from '../shell/words.ts'

type Asked = {
  readonly settings: ChainSettings
  readonly flags: Flags
  readonly keccak: Keccak
}

type Pinned = {
  readonly deployments: Deployments
  readonly isPinned: boolean
  /** The contracts of `--theft`. */
  readonly thefts: ReadonlySet<string>
}

/**
 * What the person who asks names is held against the operator's record. `--contract` and `--block` name
 * the newest contract, because no contract can say which one follows it; `--network` names all of them.
 * @throws MustAct, WrongUsage
 */
export function pinned(recorded: Deployments, { settings, flags, keccak }: Asked): Pinned {
  const newest = recorded.at(-1) ?? recorded[0]
  assertFits(newest, settings)
  const contract = textFlag(flags, 'contract')?.toLowerCase()
  if (contract !== undefined && !/^0x[0-9a-f]{40}$/.test(contract))
    throw new WrongUsage(`--contract must be an address, and is "${contract}"`)
  if (contract !== undefined && contract !== newest.contract)
    throw new MustAct(
      recorded.some((former) => former.contract === contract)
        ? `${contract}, which you named, is a former contract of these data: they go on in ${newest.contract}, and only the operator says so. If you trust that one, name it with --contract`
        : `these data are anchored in contract ${newest.contract}, and not in ${contract}, which you named`,
    )
  const network = networkFlag(flags)
  const block = wholeFlag(flags, 'block', { min: 0 })
  const begin = (deployment: AnyDeployment): AnyDeployment => {
    const named = deployment === newest ? block : undefined
    const begins = named ?? (network && beginIn(network, deployment, keccak)) ?? deployment.block
    return { ...deployment, block: begins }
  }
  const [first, ...others] = recorded
  const deployments: Deployments = [begin(first), ...others.map(begin)]
  if (network !== undefined) assertAllThere(network, deployments)
  return {
    deployments,
    isPinned: (contract ?? network) !== undefined,
    thefts: theftsOf(flags, recorded),
  }
}

/** @throws WrongUsage one is not a former contract of these data: in the newest one everything counts */
function theftsOf(flags: Flags, recorded: Deployments): ReadonlySet<string> {
  const named = textFlag(flags, 'theft')?.toLowerCase().split(',') ?? []
  const former = recorded.slice(0, -1).map(({ contract }) => contract)
  const unknown = named.find((address) => !former.some((contract) => contract === address))
  if (unknown !== undefined)
    throw new WrongUsage(
      `--theft must name former contracts of these data, with a comma between them, and "${unknown}" is not one: ${former.length === 0 ? 'there is none' : former.join(', ')}`,
    )
  return new Set(named)
}

/** @throws MustAct the file has a contract that the operator's record leaves out */
function assertAllThere({ name, contracts }: Network, recorded: Deployments): void {
  const unknown = contracts.find(
    ({ address }) => !recorded.some(({ contract }) => contract === address),
  )
  if (unknown === undefined) return
  throw new MustAct(
    `contract ${unknown.address} of the network ${name}, which you named, is not in the operator's record: what was anchored in it is left out`,
  )
}

/** Where a contract of these data began, as the network file says. @throws MustAct if it is not in the file */
function beginIn(
  { name, chainId, contracts }: Network,
  deployment: AnyDeployment,
  keccak: Keccak,
): number {
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
  if (pinned.version !== contractVersionOf(deployment))
    throw new MustAct(
      `the network file has contract ${deployment.contract} in version ${pinned.version}, and the operator's record in version ${contractVersionOf(deployment)}`,
    )
  const { begins } = pinned
  const start = startOf(deployment, keccak)
  if (begins && (begins.after_batch !== start.index || begins.head !== start.head))
    throw new MustAct(
      `the network file says that contract ${deployment.contract} begins after batch ${begins.after_batch} with head ${begins.head}, and the operator's record says after batch ${start.index} with head ${start.head}`,
    )
  return pinned.block
}
