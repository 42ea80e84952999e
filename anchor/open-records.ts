/** What is on record of contracts and batches, and is written only while no newer contract is there. */
import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import type { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Keccak } from '../core/proof/leaf.ts'
import type { Logger } from '../runtime/log.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { type Deployments, startOf } from '../schemas/anchoring/deployments.ts'
import { buckets } from '../schemas/subjects.ts'
import type { ChainSettings } from './config.ts'
import { findDeployments } from './deploy/deployment.ts'
import { type Fence, type FencedBucket, fencedBucket, openFence } from './fence.ts'
import { openSealedBatches, type SealedBatches } from './sealed-batches.ts'

export type Records = {
  readonly js: JetStreamClient
  /** Every contract, in the order that they were made. */
  readonly deployments: Deployments
  readonly fence: Fence
  /** Bucket `anchoring`. */
  readonly journal: FencedBucket
  /** Bucket `proofs`. */
  readonly proofs: FencedBucket
  /** Bucket `batches`, and what it holds in memory. */
  readonly records: FencedBucket
  readonly batches: SealedBatches
}

type Options = {
  readonly nc: NatsConnection
  readonly kvm: Kvm
  readonly settings: ChainSettings
  readonly keccak: Keccak
  readonly life: Pick<Lifetime, 'pause'>
  readonly stop: AbortSignal
  readonly log: Logger
}

/** @throws MustAct where there is no contract, or the chain is another one */
export async function openRecords(
  { nc, kvm, settings, keccak, life, stop, log }: Options,
  opened: AsyncDisposableStack,
): Promise<Records> {
  const anchoring = await kvm.open(buckets.anchoring)
  const deployments = await findDeployments(anchoring, settings, { pause: life.pause, stop, log })
  const js = jetstream(nc)
  const fence = openFence(anchoring, deployments)
  const open = async (bucket: string): Promise<FencedBucket> =>
    fencedBucket({ js, kv: await kvm.open(bucket), fence })
  const journal = await open(buckets.anchoring)
  const proofs = await open(buckets.proofs)
  const records = await open(buckets.batches)
  const starts = deployments.map((deployment) => startOf(deployment, keccak))
  const batches = opened.use(await openSealedBatches(nc, starts, records))
  return { js, deployments, fence, journal, proofs, records, batches }
}
