/**
 * The proof bundle: one small file from which anyone checks a reading without us. A file that was
 * handed out stays valid as bytes for ever, so a change here is another row of `bundleVersions`.
 */

import type { DeviceSignature } from '../air/device-signature.ts'
import { type Hex, toHex } from '../hex.ts'
import { type BatchHeader, headerToWire, headOf } from './header.ts'
import {
  type Keccak,
  type LeafFields,
  type LeafFields1,
  type LeafFields2,
  leafOf,
  leafValues,
} from './leaf.ts'

/**
 * Every version there is, each with the versions of leaf and header that it holds: a reading has the
 * bundle of its leaf. Append only; a row never changes.
 */
export const bundleVersions = [
  { format: 'airproof.proof.v1', leaf: 1, header: 1 },
  { format: 'airproof.proof.v2', leaf: 2, header: 2 },
] as const

const [first, second] = bundleVersions

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
  /** What its device signed, where it did. */
  readonly signature?: DeviceSignature
  /** Siblings from the leaf up. */
  readonly path: readonly Uint8Array[]
  readonly header: BatchHeader
  readonly chain: ChainProof
}

/** The bytes of the `.airproof.json` file, as text. The order of fields is part of the format. */
export function bundleText(
  { reading, signature, path, header, chain }: BundleParts,
  keccak: Keccak,
): string {
  const { tries } = chain
  const bundle = {
    format: (reading.leafVersion === 2 ? second : first).format,
    level: tries === undefined ? 'rpc' : 'proof',
    reading_hash: toHex(leafOf(reading, keccak)),
    reading: reading.leafVersion === 2 ? wireReading2(reading, signature) : wireReading1(reading),
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

const wireReading1 = (reading: LeafFields1) => ({
  sensor_id: reading.sensor,
  time_ms: reading.timeMs,
  seq: reading.seq,
  ...leafValues(reading),
  aqi: reading.aqi,
})

/** Values by the ids of `quantities.ts`, ascending: a verifier needs no names to check them. */
const wireReading2 = (reading: LeafFields2, signature: DeviceSignature | undefined) => ({
  sensor_id: reading.sensor,
  time_ms: reading.timeMs,
  seq: reading.seq,
  area: reading.area,
  flags: reading.flags,
  values: reading.values.flatMap((value, id) => (value === null ? [] : [[id, value]])),
  aqi: reading.aqi,
  device: signature === undefined ? null : wireSignature(signature),
})

const wireSignature = ({ algorithm, publicKey, signature, text }: DeviceSignature) => ({
  algorithm,
  public_key: publicKey,
  signature,
  text,
})
