/** A bit for each leaf or number of a batch: which were met, in little memory. */

import { seqOf } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'

export type Bitmap = {
  /** @returns false if it was marked before */
  readonly mark: (place: number) => boolean
  readonly has: (place: number) => boolean
  readonly count: () => number
  /** The first place without a mark; the size if there is none. */
  readonly firstUnmarked: () => number
}

export function bitmap(size: number): Bitmap {
  const bytes = new Uint8Array(Math.ceil(size / 8))
  const isMarked = (place: number): boolean => ((bytes[place >>> 3] ?? 0) & (1 << (place & 7))) > 0
  let count = 0
  return {
    mark: (place) => {
      if (isMarked(place)) return false
      bytes[place >>> 3] = (bytes[place >>> 3] ?? 0) | (1 << (place & 7))
      count++
      return true
    },
    has: isMarked,
    count: () => count,
    firstUnmarked: () => {
      let place = 0
      while (place < size && isMarked(place)) place++
      return place
    },
  }
}

/** The numbers of a batch in a row: those of partition 0, then those of partition 1, … */
export function numbersOf({ nFirst, nLast }: Pick<BatchHeader, 'nFirst' | 'nLast'>) {
  const countOf = (partition: number): number =>
    (nLast[partition] ?? 0) - (nFirst[partition] ?? 0) + 1
  const before = (partition: number): number => {
    let sum = 0
    for (let p = 0; p < partition; p++) sum += countOf(p)
    return sum
  }
  return {
    placeOf: (partition: number, n: number): number =>
      before(partition) + n - (nFirst[partition] ?? 0),
    seqAt: (place: number): number => {
      let [partition, left] = [0, place]
      while (partition < nFirst.length && left >= countOf(partition)) left -= countOf(partition++)
      return seqOf(partition, (nFirst[partition] ?? 0) + left)
    },
  }
}
