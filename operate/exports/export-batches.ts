import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Hex } from '../../core/hex.ts'
import type { ChainProof } from '../../core/proof/bundle.ts'
import { beginningOf, type ChainRecord } from '../../core/proof/chain-record.ts'
import { type BatchHeader, recordOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { MustAct } from '../../runtime/exit.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { parseChainProof } from '../../schemas/anchoring/chain-proof.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type BatchIndex, createBatchIndex } from '../proofs/batch-index.ts'
import { needDeployments, readSealed } from './sealed-headers.ts'

/** What leads from the header of a batch to the chain. */
export type ChainParts = {
  /** @throws MustAct */
  readonly headerOf: (index: number) => BatchHeader
  /** What the head before a batch of version 2 is the hash of. @throws MustAct */
  readonly recordBefore: (index: number) => ChainRecord
  /** The address of the contract that a batch is anchored in. @throws MustAct */
  readonly contractOf: (index: number) => Hex
  /** @throws MustAct */
  readonly chainProofOf: (index: number) => Promise<ChainProof>
}

export type ExportBatches = ChainParts & {
  readonly index: BatchIndex
  /** The final batch that numbers a reading; undefined: none does yet. */
  readonly holding: (seq: number) => number | undefined
}

/** The batches as they stand now. @throws MustAct where nothing was ever anchored */
export async function readExportBatches(
  nc: NatsConnection,
  keccak: Keccak,
): Promise<ExportBatches> {
  const index = createBatchIndex(keccak)
  index.putDeployments(await needDeployments(nc))
  const { sealed, anchored } = await readSealed(nc)
  const inOrder = [...sealed].toSorted(([a], [b]) => a - b)
  for (const [number, batch] of inOrder) index.putSealed(number, batch)
  for (const [number, record] of anchored) index.putAnchored(number, record)
  return {
    ...chainPartsOf(index, await new Kvm(nc).open(buckets.proofs), keccak),
    index,
    holding: (seq) => {
      const standing = index.standingOf(seq, 0)
      if (standing.status === 'pending') return undefined
      if (standing.index === undefined)
        throw new MustAct(`no batch holds the number ${seq}: \`airproof audit\` says more`)
      return index.anchored(standing.index)?.status === 'final' ? standing.index : undefined
    },
  }
}

/** @param proofs bucket `proofs` */
export function chainPartsOf(
  index: Pick<BatchIndex, 'sealed' | 'deploymentOf'>,
  proofs: KV,
  keccak: Keccak,
): ChainParts {
  const headerOf = (number: number): BatchHeader => {
    const header = index.sealed(number)?.header
    if (header !== undefined) return header
    throw new MustAct(`batch ${number} has no header: \`airproof audit\` says more`)
  }
  return {
    headerOf,
    recordBefore: (number) => {
      const deployment = index.deploymentOf(number)
      return deployment !== undefined &&
        'from' in deployment &&
        deployment.from.index === number - 1
        ? beginningOf(deployment, keccak)
        : recordOf(headerOf(number - 1), keccak)
    },
    contractOf: (number) => {
      const contract = index.deploymentOf(number)?.contract
      if (contract !== undefined) return contract
      throw new MustAct(`no contract has batch ${number}: \`airproof audit\` says more`)
    },
    chainProofOf: async (number) => {
      const proof = parseChainProof(await readEntry(proofs, String(number)))
      // of a former contract it is until the batch is final in the one that counts for it
      const counts = index.deploymentOf(number)?.contract
      if (proof !== undefined && proof.contract === counts) return proof
      throw new MustAct(`there is no proof of batch ${number} on the chain: is it final?`)
    },
  }
}
