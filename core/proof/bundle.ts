/**
 * The proof bundle: one small file from which anyone checks a reading without us. A file that was
 * handed out stays valid as bytes for ever, so a change here is another row of `bundleVersions`.
 */

import { type Hex, toHex } from '../hex.ts'
import { type BatchHeader, headerToWire, headOf } from './header.ts'
import { type Keccak, type LeafFields, leafOf, leafValues } from './leaf.ts'

/**
 * Every version there is, the one that is written first, each with the versions of leaf and header
 * that it holds. Append only; a row never changes.
 */
export const bundleVersions = [{ format: 'airproof.proof.v1', leaf: 1, header: 1 }] as const

const [bundleNow] = bundleVersions

/** What is known of the transaction that anchored a batch. Hashes and address in lower case. */
export type ChainProof = {
  readonly chainId: number
  readonly contract: Hex
  readonly txHash: Hex
  readonly txIndex: number
  readonly blockHash: Hex
  readonly blockNumber: number
  /** The block's own clock, in seconds since the epoch. */
  readonly blockTimeS: number
  /** Absent where the block's tries could not be rebuilt: then a node is to be asked. */
  readonly tries?: TrieProofs
}

export type TrieProofs = {
  /** RLP of the block's header. */
  readonly blockHeader: Hex
  /** RLP of the nodes from the root to the transaction, and to its receipt. */
  readonly transaction: readonly Hex[]
  readonly receipt: readonly Hex[]
}

export type BundleParts = {
  readonly reading: LeafFields
  /** Siblings from the leaf up. */
  readonly path: readonly Uint8Array[]
  readonly header: BatchHeader
  readonly chain: ChainProof
}

/** The bytes of the `.airproof.json` file, as text. The order of fields is part of the format. */
export function bundleText({ reading, path, header, chain }: BundleParts, keccak: Keccak): string {
  const { tries } = chain
  const bundle = {
    format: bundleNow.format,
    level: tries === undefined ? 'rpc' : 'proof',
    reading_hash: toHex(leafOf(reading, keccak)),
    reading: {
      sensor_id: reading.sensor,
      time_ms: reading.timeMs,
      seq: reading.seq,
      ...leafValues(reading),
      aqi: reading.aqi,
    },
    path: path.map(toHex),
    batch: headerToWire(header),
    anchor: {
      chain_id: chain.chainId,
      contract: chain.contract,
      head: headOf(header, keccak),
      tx_hash: chain.txHash,
      tx_index: chain.txIndex,
      block_hash: chain.blockHash,
      block_number: chain.blockNumber,
      block_time_s: chain.blockTimeS,
    },
    ...(tries === undefined
      ? {}
      : {
          block_header: tries.blockHeader,
          transaction_proof: tries.transaction,
          receipt_proof: tries.receipt,
        }),
  }
  return `${JSON.stringify(bundle)}\n`
}
