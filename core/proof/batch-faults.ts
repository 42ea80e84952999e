/** What can be wrong with a batch's claims, each by name: for the sealer and for the audit. */

import { partitionCount } from '../air/sensor-id.ts'
import { zeroHash } from '../hex.ts'
import type { BatchEnd } from './batch.ts'
import { type BatchHeader, batchVersionOf } from './header.ts'
import { largestNumber } from './packed-numbers.ts'

export type HeaderFault =
  /** The two lists of partitions differ in length; in version 2 also: they are not sixteen. */
  | 'partitions'
  /** A partition's numbers run backwards, or begin below 1; in version 2 also: have not 40 bits. */
  | 'numbers'
  /** Σ(nLast − nFirst + 1) is not the count: a reading was left out, or added. */
  | 'count'
  /** Readings without a root, or a root without readings. */
  | 'root'
  /** The range runs backwards, or holds readings and no log message. */
  | 'range'
  /** The earliest reading is after the latest, or a heartbeat names one. */
  | 'times'

/** The first fault that a header shows by itself. */
export function headerFault(header: BatchHeader): HeaderFault | undefined {
  const { nFirst, nLast, count, root, first, last, timeMinMs, timeMaxMs } = header
  const is2 = batchVersionOf(header) === 2
  if (nFirst.length !== nLast.length || (is2 && nLast.length !== partitionCount))
    return 'partitions'
  const counts = nFirst.map((n, partition) => (nLast[partition] ?? 0) - n + 1)
  if (counts.some((brought) => brought < 0) || nFirst.some((n) => n < 1)) return 'numbers'
  if (is2 && nLast.some((n) => n > largestNumber)) return 'numbers'
  if (counts.reduce((sum, brought) => sum + brought, 0) !== count) return 'count'
  const isHeartbeat = count === 0
  if (isHeartbeat !== (root === zeroHash)) return 'root'
  if (first < 1 || last < first - (isHeartbeat ? 1 : 0)) return 'range'
  if (timeMinMs > timeMaxMs || (isHeartbeat && timeMaxMs !== 0)) return 'times'
  return undefined
}

export type ChainFault = 'version' | 'index' | 'prevHead' | 'first' | 'nFirst'

/** The first place where a header does not go on from where the one before ended. */
export function chainFault(end: BatchEnd, header: BatchHeader): ChainFault | undefined {
  if (header.version !== end.version) return 'version'
  if (header.index !== end.index + 1) return 'index'
  if (header.prevHead !== end.head) return 'prevHead'
  if (header.first !== end.last + 1) return 'first'
  const goesOn =
    header.nFirst.length === end.nLast.length &&
    header.nFirst.every((n, partition) => n === (end.nLast[partition] ?? 0) + 1)
  return goesOn ? undefined : 'nFirst'
}
