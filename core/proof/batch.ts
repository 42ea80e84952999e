/** How batches follow one another: each begins where the one before ended, and says so. */

import { partitionCount } from '../air/sensor-id.ts'
import { type Hex, zeroHash } from '../hex.ts'
import { type ChainRecord, recordHead } from './chain-record.ts'
import { type BatchHeader, genesisHead, headOf } from './header.ts'
import type { Keccak } from './leaf.ts'

/** Where a batch left off: all that the next one needs to know. */
export type BatchEnd = {
  /** Of the batches that follow, which is their contract's. Absent: 1. */
  readonly version?: 2
  readonly index: number
  readonly head: Hex
  /** The last log sequence that is in a batch. */
  readonly last: number
  /** For each partition the number of its last reading that is in a batch. */
  readonly nLast: readonly number[]
}

/**
 * The end before the first batch of a contract of version 1, which so has index 1 and begins at log
 * sequence 1.
 */
export const beforeFirst = (chainId: number, contract: string, keccak: Keccak): BatchEnd => ({
  index: 0,
  head: genesisHead(chainId, contract, keccak),
  last: 0,
  nLast: Array.from({ length: partitionCount }, () => 0),
})

/** Where a contract of version 2 goes on from its record: `beginningOf`, or of its last batch. */
export const endOfRecord = (record: ChainRecord, keccak: Keccak): BatchEnd => ({
  version: 2,
  index: record.index,
  head: recordHead(record, keccak),
  last: record.last,
  nLast: record.n,
})

export const endOf = (header: BatchHeader, keccak: Keccak): BatchEnd => ({
  ...versioned(header),
  index: header.index,
  head: headOf(header, keccak),
  last: header.last,
  nLast: header.nLast,
})

/** What only the one who seals knows. */
export type Sealed = {
  /** The last log sequence of the range. */
  readonly last: number
  readonly sealedMs: number
  /** A finalized block seen when the batch opened, if there was one. */
  readonly beacon?: Hex
  /** What the range holds; absent for a heartbeat, whose range holds no reading. */
  readonly readings?: SealedReadings
}

export type SealedReadings = {
  readonly root: Hex
  readonly timeMinMs: number
  readonly timeMaxMs: number
  /** How many readings each partition brought. */
  readonly counts: readonly number[]
}

/** The header of the batch after `end`. Its faults, if any, `headerFault` names. */
export function nextHeader(
  end: BatchEnd,
  { last, sealedMs, beacon = zeroHash, readings = noReadings }: Sealed,
): BatchHeader {
  return {
    ...versioned(end),
    index: end.index + 1,
    prevHead: end.head,
    root: readings.root,
    first: end.last + 1,
    last,
    count: readings.counts.reduce((sum, count) => sum + count, 0),
    timeMinMs: readings.timeMinMs,
    timeMaxMs: readings.timeMaxMs,
    sealedMs,
    beacon,
    nFirst: end.nLast.map((n) => n + 1),
    nLast: end.nLast.map((n, partition) => n + (readings.counts[partition] ?? 0)),
  }
}

const versioned = ({ version }: Pick<BatchHeader, 'version'>) =>
  version === undefined ? {} : { version }

const noReadings: SealedReadings = { root: zeroHash, timeMinMs: 0, timeMaxMs: 0, counts: [] }
