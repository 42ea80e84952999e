import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Registry } from 'prom-client'
import type { Keccak } from '../core/leaf.ts'
import { openBatchBlobs } from '../runtime/batch-blobs.ts'
import type { Logger } from '../runtime/log.ts'
import { parseChainProof } from '../schemas/chain-proof.ts'
import { buckets } from '../schemas/subjects.ts'
import type { Route } from './answer.ts'
import type { BatchIndex } from './batch-index.ts'
import type { ProofSettings } from './config.ts'
import { createExpectedBy } from './expected-by.ts'
import { linkToTx, proofLinkBelow } from './explorer.ts'
import { createMakeBundle } from './make-bundle.ts'
import { countMismatches } from './mismatches.ts'
import { openProof, proofOfReading } from './proof.ts'
import { proofFiles } from './proof-page.ts'
import { createProveReading } from './prove-reading.ts'
import { rateByAddress } from './rate-by-address.ts'
import type { ReadingSources } from './stored-reading.ts'
import { verifyReading } from './verify.ts'

type Options = ReadingSources & {
  readonly nc: NatsConnection
  readonly index: BatchIndex
  readonly keccak: Keccak
  readonly settings: ProofSettings
  readonly registry: Registry
  readonly log: Logger
  readonly nowMs: () => number
}

/** Everything about proofs that is asked over HTTP. */
export async function proofRoutes(options: Options): Promise<readonly Route[]> {
  const { nc, index, keccak, settings, registry, log, nowMs, ...sources } = options
  const { explorerUrl, publicUrl, anchorIntervalMs, openProofs } = settings
  const prove = createProveReading({ index, blobs: await openBatchBlobs(nc), keccak, nowMs })
  const proofs = await new Kvm(nc).open(buckets.proofs)
  const chainProofOf = async (batch: number) => {
    const entry = await proofs.get(String(batch))
    return entry?.operation === 'PUT' ? parseChainProof(entry.json()) : undefined
  }
  const proofLink = proofLinkBelow(publicUrl)
  const shared = {
    ...sources,
    prove,
    expectedBy: createExpectedBy({ index, intervalMs: anchorIntervalMs, nowMs }),
    mismatches: countMismatches({ registry, index, log }),
  }
  const bundles = {
    ...shared,
    makeBundle: createMakeBundle({ index, chainProofOf, keccak, nowMs }),
    bound: rateByAddress({ limit: openProofs, clockMs: () => performance.now() }),
  }
  return [
    verifyReading({
      ...shared,
      index,
      linkToTx: linkToTx(explorerUrl, proofLink),
      proofLink,
      nowMs,
    }),
    proofOfReading(bundles),
    openProof(bundles),
    ...proofFiles(),
  ]
}
