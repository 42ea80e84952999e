import type { JetStreamClient } from '@nats-io/jetstream'
import type { PrivateKeyAccount } from 'viem'
import type { Keccak } from '../../core/proof/leaf.ts'
import { type AnyDeployment, contractVersionOf } from '../../schemas/anchoring/deployments.ts'
import { chainAt } from '../chain/chain.ts'
import type { FeeRules } from '../chain/fees.ts'
import type { Ask } from '../chain/rpc.ts'
import type { Fence, FencedBucket } from '../fence.ts'
import type { SealedBatches } from '../sealed-batches.ts'
import { anchorCalls } from './anchor-call.ts'
import { createFinish } from './finish.ts'
import { openJournal } from './journal.ts'
import { Sender, type TickReport } from './sender.ts'
import { createSubmitter } from './submit.ts'

export type OpenSenderOptions = {
  readonly ask: Ask
  readonly account: PrivateKeyAccount
  readonly deployment: AnyDeployment
  readonly batches: SealedBatches
  /** The last batch of the contract. */
  readonly until: number
  readonly js: JetStreamClient
  readonly keccak: Keccak
  /** Bucket `anchoring`. */
  readonly journal: FencedBucket
  /** Bucket `proofs`. */
  readonly proofs: FencedBucket
  readonly fence: Fence
  readonly rules: FeeRules
  readonly recheckMs: number
  readonly nowMs: () => number
}

/** The sender with all its parts. @returns its tick (`sender.ts`) */
export function openSender(options: OpenSenderOptions): () => Promise<TickReport> {
  const { ask, account, deployment, until, js, keccak, proofs, fence, rules, recheckMs, nowMs } =
    options
  const batches = { ...options.batches, last: () => Math.min(options.batches.last(), until) }
  const version = contractVersionOf(deployment)
  const direct = chainAt(ask, deployment.contract, account.address, version)
  // no write of ours, and yet it takes a nonce of the writer
  const send: typeof direct.send = async (raw) => {
    await fence()
    return await direct.send(raw)
  }
  const chain = { ...direct, send }
  const journal = openJournal(options.journal, keccak)
  const shared = { chain, deployment, journal, batches, nowMs }
  const sender = new Sender({
    ...shared,
    writer: account.address,
    submit: createSubmitter({
      ...shared,
      account,
      rules,
      recheckMs,
      callOf: anchorCalls({ deployment, batches, keccak }),
    }),
    finish: createFinish({ chain, deployment, batches, proofs, js, fence, nowMs }),
  })
  return sender.tick
}
