/**
 * The column `numbers` of a snapshot: rows of whole numbers, as wide as the table of quantities was
 * when it was written. A narrower one is widened with what a sensor never heard has.
 */
import type { PartitionState } from '../../core/state/partition-state.ts'
import { layout, numberAt } from '../../core/state/state-columns.ts'
import type { ByteReader } from './snapshot-bytes.ts'

const ours = layout.numbers.width
/** Those of version 2, which says how many quantities it holds. @param values how many */
export const numbersV2 = (values: number): readonly number[] =>
  Array.from({ length: numberAt.values + values }, (_, place) => place)

/** The place in a row of ours of each column of version 1: the basic five came first there. */
export const numbersV1: readonly number[] = [0, 1, 2, 3, 4]
  .map((id) => numberAt.values + id)
  .concat(numbersV2(0))

/** @param places of the columns to write, in a row of ours */
export function packNumbers(state: PartitionState, places: readonly number[]): Int32Array {
  const sensors = state.ids.length
  const packed = new Int32Array(sensors * places.length)
  let at = 0
  for (let slot = 0; slot < sensors; slot++) {
    for (const place of places) packed[at++] = state.numbers[slot * ours + place] ?? 0
  }
  return packed
}

/** @param places as they were when it was packed; the state's rows are those of sensors never heard */
export function unpackNumbers(
  state: PartitionState,
  reader: ByteReader,
  places: readonly number[],
): void {
  const sensors = state.ids.length
  const packed = reader.take(new Int32Array(sensors * places.length))
  let at = 0
  for (let slot = 0; slot < sensors; slot++) {
    for (const place of places) state.numbers[slot * ours + place] = packed[at++] ?? 0
  }
}
