/** The readings of one batch as they arrive from the log: their leaves, and the claims of the header. */

import { partitionCount } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import type { BatchEnd, SealedReadings } from '../../core/proof/batch.ts'
import type { BatchVersion } from '../../core/proof/header.ts'
import { type Keccak, type LeafFields2, leafEncoder } from '../../core/proof/leaf.ts'
import { leavesAtOnce, leavesEncoder } from '../../core/proof/leaves.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { tileRootOf2 } from '../../core/proof/tile-root.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../../core/proof/tree.ts'
import { leafVersionOf } from '../../core/state/border.ts'
import type { ArrivedReading, LogMessage } from '../../core/state/log-message.ts'
import { MustAct } from '../../runtime/exit.ts'
import { keccakSlots } from '../../runtime/hashes/keccak-slots.ts'
import { cutLeaves, encodeTile } from '../../schemas/anchoring/batch-blob.ts'
import { type LeafList, leafList, tilesOf } from './leaf-list.ts'

export type BatchContent = {
  /** The last log sequence taken; where the batch begins − 1 before the first. */
  readonly last: () => number
  readonly count: () => number
  /** Broker time of the earliest and of the latest reading so far; undefined: none. */
  readonly arrived: () => { readonly firstMs: number; readonly lastMs: number } | undefined
  /**
   * Each message that READINGS holds, in order; undefined: a foreign one, whose sequence is part of
   * the range and which brings nothing. @throws MustAct where one is missing
   */
  readonly add: (seq: number, message: LogMessage | undefined) => void
  /** Sorts and hashes. Yields to the event loop now and then; call it once, at the end. */
  readonly build: () => Promise<BuiltContent>
}

export type BuiltContent = {
  /**
   * The leaves of each tile of 256, side by side, new bytes each time. In the order of the tree: of version
   * 1 that of their hashes, of version 2 that of their numbers.
   */
  readonly tiles: () => Iterable<Uint8Array>
  /** Root of each tile. */
  readonly roots: readonly Uint8Array[]
  /** undefined: no reading. */
  readonly readings: SealedReadings | undefined
}

/** The process must answer meanwhile: a lease, a probe. */
const tilesAtOnce = 16

type Start = Pick<BatchEnd, 'version' | 'last' | 'nLast'>

/** @param end where the batch before ended */
export function batchContent(end: Start, keccak: Keccak): BatchContent {
  const version = end.version ?? 1
  const { leavesOf, rootOf, tilesIn } = rulesOf(version, keccak)
  const counts = Array.from({ length: partitionCount }, () => 0)
  const leaves = counts.map(leafList)
  let [last, count] = [end.last, 0]
  let [timeMinMs, timeMaxMs] = [Infinity, -Infinity]
  let [firstMs, lastMs] = [Infinity, -Infinity]

  const addReadings = (partition: number, readings: readonly ArrivedReading[]): void => {
    for (let at = 0; at < readings.length; at += leavesAtOnce)
      leaves[partition]?.add(leavesOf(readings.slice(at, at + leavesAtOnce)))
    for (const { timeMs, arrivedMs } of readings) {
      timeMinMs = Math.min(timeMinMs, timeMs)
      timeMaxMs = Math.max(timeMaxMs, timeMs)
      firstMs = Math.min(firstMs, arrivedMs)
      lastMs = Math.max(lastMs, arrivedMs)
    }
    count += readings.length
  }

  return {
    last: () => last,
    count: () => count,
    arrived: () => (count === 0 ? undefined : { firstMs, lastMs }),
    add: (seq, message) => {
      if (seq !== last + 1)
        throw new MustAct(
          `READINGS goes from ${last} to ${seq}: messages are missing that were never anchored; restore them, or begin a new deployment`,
        )
      last = seq
      if (message === undefined) return
      const { partition, nLast, readings } = message
      if (readings.length > 0 && leafVersionOf(message) !== version)
        throw new MustAct(
          `READINGS message ${seq} has leaves of version ${leafVersionOf(message)}, and its batch is of version ${version}: the contract in use does not belong to this log; restore bucket \`anchoring\``,
        )
      const before = counts[partition] ?? 0
      const brought = before + readings.length
      const expected = (end.nLast[partition] ?? 0) + brought
      if (nLast !== expected)
        throw new MustAct(
          `READINGS message ${seq} counts ${nLast} readings of partition ${partition}, and ${expected} were in the log: it does not go on from what is anchored`,
        )
      addReadings(partition, readings)
      counts[partition] = brought
    },
    build: async () => {
      const tiles = tilesIn(leaves)
      const roots: Uint8Array[] = []
      for (const tile of tiles()) {
        roots.push(rootOf(tile))
        if (roots.length % tilesAtOnce === 0) await new Promise(setImmediate)
      }
      if (count === 0) return { tiles, roots, readings: undefined }
      const root = toHex(merkleRoot(roots, nodeHash(keccak, version)))
      return { tiles, roots, readings: { root, timeMinMs, timeMaxMs, counts } }
    },
  }
}

type Rules = {
  /** Of up to `leavesAtOnce` readings, side by side. */
  readonly leavesOf: (readings: readonly ArrivedReading[]) => Uint8Array
  readonly rootOf: (tile: Uint8Array) => Uint8Array
  /** @param lists one for each partition, each in the order of its numbers */
  readonly tilesIn: (lists: readonly LeafList[]) => () => Iterable<Uint8Array>
}

const rulesOf = (version: BatchVersion, keccak: Keccak): Rules =>
  version === 1 ? rules1(keccak) : rules2(keccak)

function rules1(keccak: Keccak): Rules {
  const leafOf = leafEncoder(keccak)
  const hash = nodeHash(keccak, 1)
  return {
    leavesOf: (readings) => Buffer.concat(readings.map(leafOf)),
    rootOf: (tile) => merkleRoot(cutLeaves(tile), hash),
    tilesIn: (lists) => {
      // the order is that of all, so they are all sorted at once
      const sorted = sortLeaves(lists.flatMap((list) => list.blocks().flatMap(cutLeaves)))
      return function* tiles() {
        for (let at = 0; at < sorted.length; at += tileLeaves)
          yield encodeTile(sorted.slice(at, at + tileLeaves))
      }
    },
  }
}

function rules2(keccak: Keccak): Rules {
  const encode = leavesEncoder(keccak, keccakSlots)
  return {
    leavesOf: (readings) => {
      if (!readings.every(isOfVersion2))
        throw new RangeError('a reading of version 1 is in a batch of version 2')
      return encode(readings)
    },
    rootOf: tileRootOf2(keccakSlots),
    tilesIn: (lists) => () => tilesOf(lists),
  }
}

const isOfVersion2 = (reading: ArrivedReading): reading is ArrivedReading & LeafFields2 =>
  reading.leafVersion === 2
