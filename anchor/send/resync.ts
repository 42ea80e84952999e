/** After a stop, on an operator's command: continue from what the chain holds. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { PrivateKeyAccount } from 'viem'
import { beforeFirst } from '../../core/proof/batch.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
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
  readonly deployment: Deployment
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
  const start = beforeFirst(deployment.chainId, deployment.contract, keccak)
  await using batches = await openSealedBatches(nc, start)
  const journal = openJournal(kv, keccak)
  const { head, nonce, finalHead, finalNonce } = await chainAt(
    ask,
    deployment.contract,
    account.address,
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
