/**
 * Where a stored reading is between the log and the chain, computed at each call: its
 * leaf from its values, its batch by its number, its path from the batch's blob, the root from leaf and
 * path. Nothing here was decided before and stored.
 */

import type { Reading } from '../../core/air/reading.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import {
  foldPath,
  foldPlaced,
  type MerkleTree,
  merkleTree,
  nodeHash,
  tiledPath,
} from '../../core/proof/tree.ts'
import { hourMs } from '../../core/time.ts'
import { createCache } from '../../runtime/cache.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type BlobTop, placeOfLeaf } from '../../schemas/anchoring/batch-blob.ts'
import type { Anchored, Checked } from '../../schemas/anchoring/batch-record.ts'
import type { BatchIndex, UnanchoredWhy } from './batch-index.ts'

export type MismatchWhy =
  /** There are batches past its number, and none holds it. */
  | 'no_batch'
  /** Its number is above every one that the log has given out: the row was made up. */
  | 'not_in_log'
  /** The batch's header is not the one that was anchored. */
  | 'header'
  /** The reading does not hash to any leaf of its batch: the row was altered, or made up. */
  | 'leaf'
  /** The kept leaves of the batch no longer give its root. */
  | 'blob'

export type ReadingProof = {
  readonly header: BatchHeader
  readonly path: readonly Uint8Array[]
  /** Among the leaves of the batch. */
  readonly leafIndex: number
}

/** `proof` is there wherever the reading was found in its batch. */
export type Verdict = { readonly hash: Hex } & (
  | { readonly status: 'pending' }
  | { readonly status: 'anchoring'; readonly why: UnanchoredWhy; readonly proof: ReadingProof }
  | {
      readonly status: 'verified'
      readonly proof: ReadingProof
      readonly anchored: Anchored
      readonly checked: Checked
    }
  | { readonly status: 'mismatch'; readonly why: MismatchWhy; readonly index: number | undefined }
)

/** @throws what the way to the blobs throws; RangeError never */
export type ProveReading = (reading: Reading) => Promise<Verdict>

type Options = {
  readonly index: BatchIndex
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
  readonly nowMs: () => number
  /** Whether the log has given the number out. Absent: every number may be anchored yet. */
  readonly isInLog?: (seq: number) => Promise<boolean>
}

/** The top of a batch is written once, so what was read holds; the bound is memory's. */
const mostTops = 64

export function createProveReading(options: Options): ProveReading {
  const { index, blobs, keccak, nowMs, isInLog = async () => true } = options
  const leafOf = leafEncoder(keccak)
  const hashNodes = { 1: nodeHash(keccak, 1), 2: nodeHash(keccak, 2) }
  const tops = createCache({ forMs: hourMs, most: mostTops, nowMs })

  const openTop = ({ index: batch, ...header }: BatchHeader): Promise<OpenTop> =>
    tops({ what: 'top', batch }, async () => {
      const top = await blobs.top(batch)
      if (top === undefined) throw new RangeError(`batch ${batch} has no blob`)
      return { top, tree: merkleTree(top.roots, hashNodes[batchVersionOf(header)]) }
    })
  /** @throws RangeError where the records of the batch cannot be read */
  const find = async (
    header: BatchHeader,
    { seq }: Reading,
    leaf: Uint8Array,
  ): Promise<ReadingProof | MismatchWhy> => {
    const { index: batch, count } = header
    const { top, tree } = await openTop(header)
    let tile: readonly Uint8Array[] = []
    const tileAt = async (number: number): Promise<readonly Uint8Array[]> => {
      const read = await blobs.tile(batch, number)
      if (read === undefined) throw new RangeError(`batch ${batch} has no tile ${number}`)
      tile = read
      return read
    }
    const leafIndex = await placeOfLeaf({ header, top, tileAt }, leaf, seq)
    if (leafIndex === undefined) return 'leaf'
    const version = batchVersionOf(header)
    const hash = hashNodes[version]
    const path = tiledPath({ tile, top: tree, index: leafIndex }, hash)
    const root =
      version === 2
        ? foldPlaced(leaf, path, { rank: leafIndex, count }, hash)
        : foldPath(leaf, path, hash)
    if (typeof root === 'string' || toHex(root) !== header.root) return 'blob'
    return { header, path, leafIndex }
  }

  return async (reading) => {
    const leaf = leafOf(reading)
    const hash = toHex(leaf)
    const standing = index.standingOf(reading.seq, nowMs())
    if (standing.status === 'pending')
      return (await isInLog(reading.seq))
        ? { status: 'pending', hash }
        : { status: 'mismatch', hash, why: 'not_in_log', index: undefined }
    const sealed = standing.index === undefined ? undefined : index.sealed(standing.index)
    if (standing.status === 'broken' || sealed === undefined) {
      const why = standing.status === 'broken' ? standing.why : 'header'
      return { status: 'mismatch', hash, why, index: standing.index }
    }
    const proof = await find(sealed.header, reading, leaf).catch((error: unknown) => {
      if (error instanceof RangeError) return 'blob' as const
      throw error
    })
    if (typeof proof === 'string')
      return { status: 'mismatch', hash, why: proof, index: standing.index }
    if (standing.status === 'anchoring')
      return { status: 'anchoring', hash, why: standing.why, proof }
    const { anchored, checked } = standing
    return { status: 'verified', hash, proof, anchored, checked }
  }
}

type OpenTop = { readonly top: BlobTop; readonly tree: MerkleTree }
