import type { Hex } from '../hex.ts'
import type { SensorId } from './sensor-id.ts'
import type { Values } from './values.ts'

/** One accepted reading, as the log, the store and the API know it. */
export type Reading = {
  readonly sensor: SensorId
  /** The area of the sensor's site when it measured, fixed at acceptance. */
  readonly area: string
  /** When it was measured: ms since the epoch, UTC. */
  readonly timeMs: number
  readonly values: Values
  /** US EPA index 0…500 of this single reading, `null` if it holds no PM. */
  readonly aqi: number | null
  /** Bits of `quality.ts`. */
  readonly flags: number
  /** partition · 2^40 + n, where n counts the partition's accepted readings from 1 without a gap. */
  readonly seq: number
  /** The version of its leaf. Absent: 1, as in everything that was committed below format level 3. */
  readonly leafVersion?: 2
  /** keccak256 of algorithm, public key and signature, if its device signed it; only in leaf 2. */
  readonly device?: Hex
  /** It was not fresh when it arrived (`isFresh`), so it triggered nothing. Absent also where that is not known. */
  readonly isBackfill?: true
}

/** What identifies a reading: each is accepted only once. */
export type ReadingKey = { readonly sensor: SensorId; readonly timeMs: number }

const numbersPerPartition = 2 ** 40

/** @param n from 1, below 2^40 @returns a whole number below 2^53 for partitions 0…8191 */
export const seqOf = (partition: number, n: number): number => partition * numbersPerPartition + n
export const partitionOfSeq = (seq: number): number => Math.floor(seq / numbersPerPartition)
export const nOfSeq = (seq: number): number => seq % numbersPerPartition
