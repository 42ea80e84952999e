/** The readings of one batch as they arrive from the log: their leaves, and the claims of the header. */

import { partitionOfSeq } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import type { BatchEnd, SealedReadings } from '../../core/proof/batch.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { merkleRoot, nodeHash, tileLeaves } from '../../core/proof/tree.ts'
import { leafVersionOf } from '../../core/state/border.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { MustAct } from '../../runtime/exit.ts'
import { cutLeaves } from '../../schemas/anchoring/batch-blob.ts'

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
  /** In the order of the tree: of version 1 that of their hashes, of version 2 that of their numbers. */
  readonly leaves: readonly Uint8Array[]
  /** Root of each tile of 256. */
  readonly roots: readonly Uint8Array[]
  /** undefined: no reading. */
  readonly readings: SealedReadings | undefined
}

const leafBytes = 32
const fewLeaves = 64
/** The process must answer meanwhile: a lease, a probe. */
const tilesAtOnce = 16

type Start = Pick<BatchEnd, 'version' | 'last' | 'nLast'>

/** @param end where the batch before ended */
export function batchContent(end: Start, keccak: Keccak): BatchContent {
  const version = end.version ?? 1
  const leafOf = leafEncoder(keccak)
  const hash = nodeHash(keccak, version)
  const counts = Array.from({ length: partitionCount }, () => 0)
  const leaves = counts.map(() => Buffer.alloc(fewLeaves * leafBytes))
  let [last, count] = [end.last, 0]
  let [timeMinMs, timeMaxMs] = [Infinity, -Infinity]
  let [firstMs, lastMs] = [Infinity, -Infinity]

  const addReading = (reading: LogMessage['readings'][number], place: number): void => {
    const partition = partitionOfSeq(reading.seq)
    let bytes = leaves[partition] ?? Buffer.alloc(0)
    if ((place + 1) * leafBytes > bytes.length) {
      bytes = Buffer.concat([bytes, bytes])
      leaves[partition] = bytes
    }
    bytes.set(leafOf(reading), place * leafBytes)
    count++
    timeMinMs = Math.min(timeMinMs, reading.timeMs)
    timeMaxMs = Math.max(timeMaxMs, reading.timeMs)
    firstMs = Math.min(firstMs, reading.arrivedMs)
    lastMs = Math.max(lastMs, reading.arrivedMs)
  }
  /** Partition by partition, each in the order of its numbers. */
  const inOrder = (): Uint8Array[] =>
    leaves.flatMap((bytes, partition) =>
      cutLeaves(bytes.subarray(0, (counts[partition] ?? 0) * leafBytes)),
    )

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
      readings.forEach((reading, place) => addReading(reading, before + place))
      counts[partition] = brought
    },
    build: async () => {
      if (count === 0) return { leaves: [], roots: [], readings: undefined }
      const ordered = version === 1 ? sortLeaves(inOrder()) : inOrder()
      const roots: Uint8Array[] = []
      for (let at = 0; at < count; at += tileLeaves) {
        roots.push(merkleRoot(ordered.slice(at, at + tileLeaves), hash))
        if (roots.length % tilesAtOnce === 0) await new Promise(setImmediate)
      }
      const root = toHex(merkleRoot(roots, hash))
      return { leaves: ordered, roots, readings: { root, timeMinMs, timeMaxMs, counts } }
    },
  }
}
