/** The readings of one batch as they arrive from the log: their leaves, and the claims of the header. */

import { partitionCount } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import type { SealedReadings } from '../../core/proof/batch.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import { sortLeaves } from '../../core/proof/merkle.ts'
import { merkleRoot } from '../../core/proof/merkle-root.ts'
import { tileLeaves } from '../../core/proof/tiles.ts'
import type { LogMessage } from '../../core/state/log-message.ts'
import { MustAct } from '../../runtime/exit.ts'

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
  /** In the order of their hashes. */
  readonly leaves: readonly Uint8Array[]
  /** Root of each tile of 256. */
  readonly roots: readonly Uint8Array[]
  /** undefined: no reading. */
  readonly readings: SealedReadings | undefined
}

const leafBytes = 32
/** The process must answer meanwhile: a lease, a probe. */
const tilesAtOnce = 16

type Start = { readonly last: number; readonly nLast: readonly number[] }

/** @param end where the batch before ended */
export function batchContent(end: Start, keccak: Keccak): BatchContent {
  const leafOf = leafEncoder(keccak)
  const counts = Array.from({ length: partitionCount }, () => 0)
  let bytes = Buffer.alloc(1024 * leafBytes)
  let [last, count] = [end.last, 0]
  let [timeMinMs, timeMaxMs] = [Infinity, -Infinity]
  let [firstMs, lastMs] = [Infinity, -Infinity]

  const addReading = (reading: LogMessage['readings'][number]): void => {
    if ((count + 1) * leafBytes > bytes.length) bytes = Buffer.concat([bytes, bytes])
    bytes.set(leafOf(reading), count * leafBytes)
    count++
    timeMinMs = Math.min(timeMinMs, reading.timeMs)
    timeMaxMs = Math.max(timeMaxMs, reading.timeMs)
    firstMs = Math.min(firstMs, reading.arrivedMs)
    lastMs = Math.max(lastMs, reading.arrivedMs)
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
      const brought = (counts[partition] ?? 0) + readings.length
      const expected = (end.nLast[partition] ?? 0) + brought
      if (nLast !== expected)
        throw new MustAct(
          `READINGS message ${seq} counts ${nLast} readings of partition ${partition}, and ${expected} were in the log: it does not go on from what is anchored`,
        )
      readings.forEach(addReading)
      counts[partition] = brought
    },
    build: async () => {
      if (count === 0) return { leaves: [], roots: [], readings: undefined }
      const leaves = sortLeaves(
        Array.from({ length: count }, (_, at) =>
          bytes.subarray(at * leafBytes, (at + 1) * leafBytes),
        ),
      )
      const roots: Uint8Array[] = []
      for (let at = 0; at < count; at += tileLeaves) {
        roots.push(merkleRoot(leaves.slice(at, at + tileLeaves), keccak))
        if (roots.length % tilesAtOnce === 0) await new Promise(setImmediate)
      }
      const root = toHex(merkleRoot(roots, keccak))
      return { leaves, roots, readings: { root, timeMinMs, timeMaxMs, counts } }
    },
  }
}
