/**
 * Rows against what was anchored: each row's leaf, made from its values, must be among the leaves of
 * the batch that has its number; and if all rows are given, each leaf must be that of a row, and
 * each number that of one row. Rows above the anchored numbers are held against the log instead.
 */

import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type Bitmap, bitmap, numbersOf } from './bitmap.ts'
import type { Findings } from './findings.ts'
import { type AuditedRow, type OpenBlob, openBlob, placeOf } from './leaves.ts'
import type { PendingRows } from './pending.ts'

export type RowCheck = {
  readonly add: (rows: readonly AuditedRow[]) => Promise<void>
  readonly report: () => RowReport
  /** Call it once, after all rows there are. */
  readonly findMissing: () => void
}

export type RowReport = {
  readonly looked_at: number
  readonly fit: number
  /** In no batch yet. */
  readonly not_anchored: number
  /** In a batch before the first one that is looked at. */
  readonly before: number
}

type Options = {
  /** In order, without a gap. */
  readonly headers: readonly BatchHeader[]
  readonly blobs: BatchBlobs
  readonly keccak: Keccak
  readonly findings: Findings
  /** Takes the rows that no batch has yet. */
  readonly pending: PendingRows
  /** Every row comes once: one that comes again is there twice. */
  readonly isAll: boolean
}

/** Of one batch: the leaves and the numbers that rows were found of. */
type Seen = { readonly leaves: Bitmap; readonly numbers: Bitmap }

const none: Seen = { leaves: bitmap(0), numbers: bitmap(0) }

/** Batches whose leaves are held at once; rows come by time, and so do batches. */
const mostOpen = 32

export function checkRows({ headers, blobs, keccak, findings, pending, isAll }: Options): RowCheck {
  const leafOf = leafEncoder(keccak)
  const seen = new Map<number, Seen>()
  const opened = new Map<number, Promise<OpenBlob>>()
  const counts = { looked_at: 0, fit: 0, not_anchored: 0, before: 0 }

  const open = (index: number): Promise<OpenBlob> => {
    const blob = opened.get(index) ?? openBlob(blobs, index)
    opened.delete(index)
    opened.set(index, blob)
    const [oldest] = opened.keys()
    if (opened.size > mostOpen && oldest !== undefined) opened.delete(oldest)
    return blob
  }
  const seenIn = ({ index, count }: BatchHeader): Seen => {
    const known = seen.get(index) ?? { leaves: bitmap(count), numbers: bitmap(count) }
    seen.set(index, known)
    return known
  }

  const addRow = async (row: AuditedRow): Promise<void> => {
    counts.looked_at++
    const report = (kind: 'row' | 'number', words: string, batch?: number): void =>
      findings.add(kind, batch, `${row.sensor} ${formatIso(row.timeMs)}: ${words}`)
    const [partition, n] = [partitionOfSeq(row.seq), nOfSeq(row.seq)]
    if (!(partition >= 0 && partition < partitionCount)) {
      report('row', `there is no partition ${partition}, which its number ${row.seq} names`)
      return
    }
    const header = placeOf(headers, row.seq)
    if (header === 'before') counts.before++
    if (header === 'not_anchored') {
      counts.not_anchored++
      pending.add(row, leafOf(row))
    }
    if (typeof header === 'string') return
    if (header === undefined) {
      report('row', `no batch holds its number ${row.seq}`)
      return
    }
    const { index } = header
    const place = await (await open(index)).placeOf(leafOf(row))
    if (place === undefined) {
      report('row', `it is not what was anchored in batch ${index}`, index)
      return
    }
    if (!isAll) {
      counts.fit++
      return
    }
    const { leaves, numbers } = seenIn(header)
    if (!numbers.mark(numbersOf(header).placeOf(partition, n)))
      report('number', `batch ${index} has another reading with its number ${row.seq}`, index)
    if (leaves.mark(place)) counts.fit++
    else report('row', 'it is there twice', index)
  }

  return {
    add: async (rows) => {
      for (const row of rows) await addRow(row)
    },
    report: () => ({ ...counts }),
    findMissing: () => {
      for (const header of headers) {
        const { index, count } = header
        const { leaves, numbers } = seen.get(index) ?? none
        const missing = count - leaves.count()
        if (missing > 0)
          findings.add(
            'missing',
            index,
            `batch ${index}: ${missing} of its ${count} readings have no row that fits`,
          )
        // else the numbers of the missing ones are not known
        const unused = count - numbers.count()
        if (missing === 0 && unused > 0)
          findings.add(
            'number',
            index,
            `batch ${index}: no reading has ${unused} of its ${count} numbers; the first is ${numbersOf(header).seqAt(numbers.firstUnmarked())}`,
          )
      }
    },
  }
}
