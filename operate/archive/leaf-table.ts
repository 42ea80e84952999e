/**
 * The leaves of a run, each in the place of its number: whatever order its rows come in, the union of
 * them is exactly the readings of its batches, or one of them is named. 32 bytes a reading.
 */

import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { type Keccak, type LeafFields, leafEncoder } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { merkleRoot, nodeBytes, nodeHash, pathIn, rankOf } from '../../core/proof/tree.ts'
import type { LastReading } from '../exports/check-run.ts'

type Slot = {
  readonly header: BatchHeader
  readonly leaves: Uint8Array
  readonly isFilled: Uint8Array
  filled: number
  /** One of its readings, from which a bundle can be made. */
  sample?: { readonly reading: LeafFields; readonly signature?: DeviceSignature | undefined }
}

/** The reading's batch and leaf, or why it is not one of the run. */
export type Put = { readonly batch: number; readonly leaf: Uint8Array } | { readonly why: string }

export type LeafTable = {
  /** Readings of all batches. */
  readonly size: number
  /** The batch that numbers a reading; undefined: none of the run does. */
  readonly batchOf: (seq: number) => number | undefined
  /** Of a reading that was put. */
  readonly leafOf: (seq: number) => Uint8Array | undefined
  readonly put: (reading: LeafFields, signature?: DeviceSignature) => Put
  /** Why the readings are not all of the run's, or not as they were; undefined: they are. */
  readonly fault: () => string | undefined
  /** Readings of the run that were not put. */
  readonly missing: () => number
  readonly lastReading: (index: number) => LastReading | undefined
  /** All leaves of a batch in the order of its tree, if `fault` found none; undefined: no reading is in it. */
  readonly leavesIn: (index: number) => readonly Uint8Array[] | undefined
}

/** A bundle of a signed reading has its signature, which the store may have lost. */
const makesBundle = (reading: LeafFields, signature: DeviceSignature | undefined): boolean =>
  reading.leafVersion !== 2 || reading.device === undefined || signature !== undefined

/** @param headers of all batches of the run, in order */
export function createLeafTable(headers: readonly BatchHeader[], keccak: Keccak): LeafTable {
  const slots = headers
    .filter(({ count }) => count > 0)
    .map(
      (header): Slot => ({
        header,
        leaves: new Uint8Array(header.count * nodeBytes),
        isFilled: new Uint8Array(header.count),
        filled: 0,
      }),
    )
  const leafOf = leafEncoder(keccak)
  const latest: number[] = Array.from({ length: partitionCount }, () => 0)

  const find = (seq: number): Slot | undefined => {
    const [partition, n] = [partitionOfSeq(seq), nOfSeq(seq)]
    const holds = (slot: Slot | undefined): boolean =>
      slot !== undefined &&
      n >= (slot.header.nFirst[partition] ?? Infinity) &&
      n <= (slot.header.nLast[partition] ?? 0)
    // the rows of a sensor come in the order of their numbers, nearly always
    const near = slots[latest[partition] ?? 0]
    if (holds(near)) return near
    let [low, high] = [0, slots.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((slots[middle]?.header.nLast[partition] ?? 0) < n) low = middle + 1
      else high = middle
    }
    if (!holds(slots[low])) return undefined
    latest[partition] = low
    return slots[low]
  }

  const put = (reading: LeafFields, signature?: DeviceSignature): Put => {
    const slot = find(reading.seq)
    const rank = slot && rankOf(slot.header, reading.seq)
    if (slot === undefined || rank === undefined)
      return { why: `has the number ${reading.seq}, which no batch of this run has` }
    const { header, leaves, isFilled } = slot
    if ((reading.leafVersion ?? 1) !== batchVersionOf(header))
      return {
        why: `has a leaf of version ${reading.leafVersion ?? 1}, and batch ${header.index} is of version ${batchVersionOf(header)}`,
      }
    if (reading.timeMs < header.timeMinMs || reading.timeMs > header.timeMaxMs)
      return { why: `is of another time than batch ${header.index}` }
    if (isFilled[rank] === 1) return { why: `has the number ${reading.seq}, as another row has` }
    const leaf = leafOf(reading)
    leaves.set(leaf, rank * nodeBytes)
    isFilled[rank] = 1
    slot.filled++
    if (slot.sample === undefined && makesBundle(reading, signature))
      slot.sample = { reading, signature }
    return { batch: header.index, leaf }
  }

  const leavesOf = ({ header, leaves }: Slot): Uint8Array[] => {
    const inOrder = Array.from({ length: header.count }, (_, at) =>
      leaves.subarray(at * nodeBytes, (at + 1) * nodeBytes),
    )
    return batchVersionOf(header) === 2 ? inOrder : sortLeaves(inOrder)
  }
  const slotOf = (index: number) => slots.find(({ header }) => header.index === index)
  const hashOf = ({ header }: Slot) => nodeHash(keccak, batchVersionOf(header))

  return {
    size: slots.reduce((sum, { header }) => sum + header.count, 0),
    batchOf: (seq) => find(seq)?.header.index,
    leafOf: (seq) => {
      const slot = find(seq)
      const rank = slot && rankOf(slot.header, seq)
      return slot === undefined || rank === undefined
        ? undefined
        : slot.leaves.subarray(rank * nodeBytes, (rank + 1) * nodeBytes)
    },
    put,
    missing: () => slots.reduce((sum, { header, filled }) => sum + header.count - filled, 0),
    fault: () => {
      for (const slot of slots) {
        const { index, count, root } = slot.header
        if (slot.filled < count)
          return `${count - slot.filled} of the ${count} readings of batch ${index} are missing`
        if (toHex(merkleRoot(leavesOf(slot), hashOf(slot))) !== root)
          return `the rows of batch ${index} do not lead to its root: one was changed`
      }
      return undefined
    },
    leavesIn: (index) => {
      const slot = slotOf(index)
      return slot && leavesOf(slot)
    },
    lastReading: (index) => {
      const slot = slotOf(index)
      if (slot?.sample === undefined) return undefined
      const { reading, signature } = slot.sample
      const leaves = leavesOf(slot)
      const leaf = leafOf(reading)
      const place = leaves.findIndex((one) => Buffer.compare(one, leaf) === 0)
      const path = pathIn(leaves, place, hashOf(slot))
      return { reading, path, ...(signature !== undefined && { signature }) }
    },
  }
}
