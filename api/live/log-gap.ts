import { formatIsoMs } from '../../core/iso-time.ts'
import type { BatchIndex } from '../../operate/proofs/batch-index.ts'
import type { Missing } from './log-after.ts'

/** What the log does not hold any more: readings measured from `from` until before `to`. */
export type Gap = {
  /** null: not known. */
  readonly from: string | null
  readonly to: string | null
  /** Where they can be downloaded; null: nowhere. */
  readonly archive: string | null
}

type Options = {
  readonly batches: Pick<BatchIndex, 'timesOf'>
  /** Its address now; null: there is none. */
  readonly archive: () => string | null
}

export type GapOf = (missing: Missing) => Gap

/** The log is trimmed of final batches only, and those know the times of their readings. */
export const gapNamer =
  ({ batches, archive }: Options): GapOf =>
  ({ firstSeq, lastSeq }) => {
    const times = batches.timesOf(firstSeq, lastSeq)
    return {
      from: times === undefined ? null : formatIsoMs(times.minMs),
      to: times === undefined ? null : formatIsoMs(times.maxMs + 1),
      archive: archive(),
    }
  }
