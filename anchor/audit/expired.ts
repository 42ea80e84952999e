/**
 * What the operator let go, by the record of retention. The record proves nothing: a reading is expired only
 * if an archive shows it, whose rows are held against the anchored roots like those of the store. Without an
 * archive at hand the report says that they were not checked, and the audit is not green.
 */
import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { type Bitmap, bitmap, numbersOf } from './bitmap.ts'
import type { Findings } from './findings.ts'
import { headerOf } from './leaves.ts'

export type Expired = {
  /** Readings measured before may be gone from the store. */
  readonly rawBeforeMs: number
  /** Leaves of batches before it may be gone from BLOBS. */
  readonly blobsBeforeBatch: number
  /**
   * The rows of runs that are exactly the readings of their batches; undefined: no archive is at hand. A
   * run of which that is not true is a finding, and gives none.
   */
  readonly archived?: (
    headers: readonly BatchHeader[],
    findings: Findings,
  ) => AsyncIterable<Iterable<ArchivedNumber>>
}

export type ArchivedNumber = { readonly seq: number; readonly timeMs: number }

/** By batch: the numbers of readings that the archive shows, of those that may be gone. */
export type Held = ReadonlyMap<number, Bitmap>

export async function heldBy(
  { archived, rawBeforeMs }: Expired,
  headers: readonly BatchHeader[],
  findings: Findings,
): Promise<Held | undefined> {
  if (archived === undefined) return undefined
  const held = new Map<number, Bitmap>()
  for await (const rows of archived(headers, findings))
    for (const { seq, timeMs } of rows) {
      const header = timeMs < rawBeforeMs ? headerOf(headers, seq) : undefined
      // of leaf 1 the archive has neither area nor flags, so its rows are never let go
      if (header === undefined || typeof header === 'string' || batchVersionOf(header) === 1)
        continue
      const known = held.get(header.index) ?? bitmap(header.count)
      held.set(header.index, known)
      known.mark(numbersOf(header).placeOf(partitionOfSeq(seq), nOfSeq(seq)))
    }
  return held
}

/** How many of a batch's readings the archive shows that are not among those with a row. */
export function countHeld(held: Bitmap | undefined, found: Bitmap, count: number): number {
  let only = 0
  if (held !== undefined)
    for (let place = 0; place < count; place++) if (held.has(place) && !found.has(place)) only++
  return only
}
