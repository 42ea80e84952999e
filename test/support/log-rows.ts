/** Rows of the log as the projections of the pipeline get them, and back. */
import type { LogRows } from '../../pipeline/rows-at-hand.ts'
import { type PackedReadings, packReadings, unpackReadings } from '../../store/packed-readings.ts'
import type { StoreRow } from '../../store/store.ts'

export const logRowsOf = (
  partition: number,
  seq: number,
  readings: readonly StoreRow[],
): LogRows => ({ partition, seq, rows: packReadings(readings), faulty: [] })

export const readingsIn = (...batches: readonly PackedReadings[]): StoreRow[] =>
  batches.flatMap(unpackReadings).filter((row) => row !== undefined)
