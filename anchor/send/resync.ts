/** After a stop, on an operator's command: continue from what the chain holds. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { PrivateKeyAccount } from 'viem'
import type { Hex } from '../../core/hex.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import {
  type AnyDeployment,
  contractVersionOf,
  startOf,
} from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import type { Ask } from '../chain/rpc.ts'
import { openSealedBatches } from '../sealed-batches.ts'
import { openJournal } from './journal.ts'
import type { Pair } from './journal-entry.ts'
import { maxInFlight } from './submit.ts'

type Options = {
  readonly nc: NatsConnection
  /** Bucket `anchoring`. */
  readonly kv: KV
  readonly deployment: AnyDeployment
  readonly account: PrivateKeyAccount
  readonly ask: Ask
}

/**
 * Sets a new pair of batch and nonce from the finalized chain, forgets what was signed for batches
 * that are not anchored, and lets the sender go on. The sender may be running meanwhile: it is
 * stopped, and looks at the journal at every tick.
 * @throws TryAgain while the newest blocks still say otherwise than the finalized one
 */
export async function resync({ nc, kv, deployment, account, ask }: Options): Promise<Pair> {
  const keccak = await createKeccak()
  await using batches = await openSealedBatches(nc, [startOf(deployment, keccak)])
  const journal = openJournal(kv, keccak)
  const { head, nonce, finalHead, finalNonce } = await chainAt(
    ask,
    deployment.contract,
    account.address,
    contractVersionOf(deployment),
  ).look()
  if (
    finalHead === undefined ||
    finalNonce === undefined ||
    finalHead !== head ||
    finalNonce !== nonce
  )
    throw new TryAgain('the newest transactions of the key are not final yet: try again later')
  const anchored = batches.indexOfHead(head)
  if (anchored === undefined)
    throw new MustAct(
      `the contract holds head ${head}, which none of our batches left: there is nothing to continue from`,
    )
  const pair = { index0: anchored + 1, nonce0: finalNonce }
  await journal.forgetEntries(pair.index0, Math.min(batches.last(), anchored + 2 * maxInFlight))
  const kept = await journal.pair(account.address)
  await journal.putPair(account.address, pair, kept.revision)
  await journal.clearStopped()
  return pair
}

type Place = {
  /** The last batch that another contract holds. */
  readonly index: number
  /** The last one that is sealed. */
  readonly last: number
  readonly writer: Hex
}

/**
 * After a new contract is there: forgets what was signed for the old one, and the writer's pair,
 * because the deployment took one of its nonces. The sender makes both again from the chain.
 * @param kv bucket `anchoring`
 * @throws Overtaken the sender runs, and must not
 */
export async function goOnAfter(kv: KV, { index, last, writer }: Place): Promise<void> {
  const journal = openJournal(kv, await createKeccak())
  await journal.forgetEntries(index + 1, last)
  const { value: final = 0, revision } = await journal.final()
  if (final > index) await journal.putFinal(index, revision)
  await journal.forgetPair(writer)
  await journal.clearStopped()
}
