import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import type { PartitionState } from '../../core/state/partition-state.ts'
import { catalogueFile } from '../../operate/archive/archive-layout.ts'
import type { Expired } from '../../operate/archive/open-expired.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import { createMakeBundle } from '../../operate/proofs/make-bundle.ts'
import { createProveReading } from '../../operate/proofs/prove-reading.ts'
import type { Logger } from '../../runtime/log.ts'
import { openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import { logReader } from '../../runtime/nats/log-messages.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import type { Registry } from '../../runtime/prometheus.ts'
import { parseChainProof } from '../../schemas/anchoring/chain-proof.ts'
import { buckets, readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import type { ArchiveSettings, NetworkSettings, ProofSettings } from '../config.ts'
import type { Route } from '../http/answer.ts'
import { rateByNetwork } from '../http/rate-by-network.ts'
import { contractEnds } from './contract-ends.ts'
import { type NetworkDocument, networkDocument, networkRoutes } from './network.ts'
import { openProof, proofOfReading } from './proof.ts'
import { proofFiles } from './proof-page.ts'
import { countMismatches, createExpectedBy, type ReadingSources } from './proven-reading.ts'
import { sensorKeys } from './sensor-keys.ts'
import { verifyReading } from './verify.ts'

type Options = ReadingSources & {
  readonly nc: NatsConnection
  readonly index: BatchIndex
  readonly keccak: Keccak
  readonly states: () => readonly PartitionState[]
  readonly settings: ProofSettings
  readonly network: NetworkSettings
  readonly networkId: string
  readonly archive: ArchiveSettings
  readonly expired: Pick<Expired, 'blobs'>
  readonly level: LevelNow
  readonly registry: Registry
  readonly log: Logger
  readonly nowMs: () => number
}

/** Everything about proofs that is asked over HTTP. */
export async function proofRoutes(options: Options): Promise<readonly Route[]> {
  const {
    nc,
    index,
    keccak,
    states,
    settings,
    network,
    networkId,
    archive,
    expired,
    level,
    registry,
    log,
    nowMs,
    ...sources
  } = options
  const { explorerUrl, publicUrl, anchorIntervalMs, openProofs } = settings
  const prove = createProveReading({
    index,
    blobs: expired.blobs(await openBatchBlobs(nc)),
    keccak,
    nowMs,
    isInLog: isInLog(nc, states),
  })
  const proofs = await new Kvm(nc).open(buckets.proofs)
  const chainProofOf = async (batch: number) =>
    parseChainProof(await readEntry(proofs, String(batch)))
  const shared = {
    ...sources,
    prove,
    expectedBy: createExpectedBy({ index, intervalMs: anchorIntervalMs, nowMs }),
    reportMismatch: countMismatches({ registry, index, log }),
  }
  const bound = rateByNetwork({ limit: openProofs, clockMs: () => performance.now() })
  const networkNow = async (): Promise<NetworkDocument> => {
    // before the contracts, which may be more after it: what is not known then is left out
    const ends = await contractEnds({ index, chainProofOf })
    return networkDocument({
      settings: network,
      hasArchive: existsSync(join(archive.folder, catalogueFile)),
      publicUrl,
      contracts: index.deployments(),
      ends,
      keccak,
      formatLevel: level.current(),
      id: networkId,
    })
  }
  const bundles = {
    ...shared,
    makeBundle: createMakeBundle({ index, chainProofOf, keccak, nowMs }),
    publicUrl,
    networkNow,
    bound,
  }
  return [
    verifyReading({ ...shared, index, publicUrl, explorerUrl, nowMs }),
    proofOfReading(bundles),
    openProof(bundles),
    ...proofFiles(),
    ...networkRoutes({ networkNow, bound }),
    sensorKeys({ ...sources, bound }),
  ]
}

/**
 * Whether the log has given a number out: by memory, else by the log itself, which is ahead of
 * memory and never behind the store. A stored row with a later number was made up.
 */
const isInLog =
  (nc: NatsConnection, states: () => readonly PartitionState[]) =>
  async (seq: number): Promise<boolean> => {
    const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
    if (n <= (states()[partition]?.n ?? 0)) return true
    const last = await lastMessage(nc, readingsStream, readingsSubject(partition))
    if (last === undefined) return false
    const message = await logReader(nc)(last)
    // after a foreign message memory is all that is known; what is newer may still be of the log
    return message === undefined || n <= message.nLast
  }
