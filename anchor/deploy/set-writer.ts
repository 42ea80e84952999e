/** Names another writer, with the owner's key: how a stolen writer's key is shut out. */
import type { Hex } from '../../core/hex.ts'
import { demonstrationChainId } from '../../core/proof/demonstration-chain.ts'
import { MustAct, WrongUsage } from '../../runtime/exit.ts'
import { type AnyDeployment, contractVersionOf } from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import type { Ask } from '../chain/rpc.ts'
import { encodeSetWriter } from '../contract/registry.ts'
import { type SendOptions, sendAndWait } from './send-and-wait.ts'

const gas = 100_000n

export type Roles = { readonly owner: Hex; readonly writer: Hex }

/** As the newest block has them. */
export async function readRoles(ask: Ask, deployment: AnyDeployment): Promise<Roles> {
  const { contract } = deployment
  return await chainAt(ask, contract, contract, contractVersionOf(deployment)).roles()
}

export type Change = {
  readonly deployment: AnyDeployment
  readonly roles: Roles
  /** Zero: none. */
  readonly writer: Hex
}

/** What the owner signs. @throws WrongUsage a stolen writer's key would own the contract for ever */
export function changeOf({ deployment, roles, writer }: Change) {
  if (deployment.chainId !== demonstrationChainId && isSame(writer, roles.owner))
    throw new WrongUsage(
      `${writer} is the owner, and the writer must be another account: the writer's key is on a server, and a thief could never be shut out`,
    )
  return { to: deployment.contract, data: encodeSetWriter(writer) }
}

/** Resolves when the change is in a block. @throws MustAct the account is not the owner */
export async function setWriter(options: SendOptions, change: Change): Promise<void> {
  const { account } = options
  const { owner } = change.roles
  if (!isSame(account.address, owner))
    throw new MustAct(
      `the owner of the contract is ${owner}, and the key is that of ${account.address}: use the owner's key`,
    )
  await sendAndWait(options, { what: 'the change of its writer', gas, ...changeOf(change) })
}

export const isSame = (a: Hex, b: Hex): boolean => a.toLowerCase() === b.toLowerCase()
