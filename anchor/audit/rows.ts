/**
 * Rows against what was anchored. Of version 1 each row's leaf, made from its values, must be among
 * the leaves of the batch that has its number; of version 2 it must be in the place of its number. If
 * all rows are given, each leaf must be that of a row, and each number that of one row. Rows above the
 * anchored numbers are held against the log instead.
 */

import { nOfSeq, partitionOfSeq } from '../../core/air/reading.ts'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { formatIso } from '../../core/iso-time.ts'
import { type BatchHeader, batchVersionOf } from '../../core/proof/header.ts'
import { type Keccak, leafEncoder } from '../../core/proof/leaf.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { type Bitmap, bitmap, numbersOf } from './bitmap.ts'
import { countHeld, type Expired, type Held } from './expired.ts'
import type { Findings } from './findings.ts'
import { type AuditedRow, headerOf, type OpenBlob, openBlob } from './leaves.ts'
import type { PendingRows } from './pending.ts'

export type RowCheck = {
  readonly add: (rows: readonly AuditedRow[]) => Promise<void>
  readonly report: () => RowReport
  /**
   * Call it once, after all rows there are.
   * @param keptFromMs the store may have dropped what is older; −Infinity: it keeps everything
   * @param expired what the operator let go, and what an archive shows of it
   */
  readonly findMissing: (keptFromMs: number, expired?: Gone) => void
}

export type Gone = Pick<Expired, 'rawBeforeMs'> & { readonly held: Held | undefined }

export type RowReport = {
  readonly looked_at: number
  readonly fit: number
  /** In no batch yet. */
  readonly not_anchored: number
  /** In a batch before the first one that is looked at. */
  readonly before: number
  /** Anchored, and not there any more: older than the store's retention. */
  readonly expired: number
  /** Not there, of batches that are older than the retention only in part: it may be that. */
  readonly perhaps_expired: number
  /** Let go by the operator's record, and shown by the archive as they were anchored. */
  readonly archived: number
  /** May have been let go by the record, and no archive is at hand that could show them. */
  readonly not_checked: number
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
  /** Leaves of batches before it may not be at hand: their rows cannot be checked then. */
  readonly blobsBeforeBatch: number
}

/** Of one batch: the leaves and the numbers that rows were found of; of version 2 they are the same. */
type Seen = { readonly leaves: Bitmap; readonly numbers: Bitmap }

const none: Seen = { leaves: bitmap(0), numbers: bitmap(0) }

/** Batches whose leaves are held at once; rows come by time, and so do batches. */
const mostOpen = 32
/** For at most this many rows that do not fit, their batch is searched for them: it takes some ms each. */
const mostSearches = 20

export function checkRows(options: Options): RowCheck {
  const { headers, blobs, keccak, findings, pending, isAll, blobsBeforeBatch } = options
  const leafOf = leafEncoder(keccak)
  const seen = new Map<number, Seen>()
  /** By batch: numbers of rows whose leaves are not at hand. */
  const unchecked = new Map<number, Bitmap>()
  const opened = new BoundedMap<number, OpenBlob>(mostOpen)
  const counts = {
    looked_at: 0,
    fit: 0,
    not_anchored: 0,
    before: 0,
    expired: 0,
    perhaps_expired: 0,
    archived: 0,
    not_checked: 0,
  }
  let searches = 0

  const open = async (header: BatchHeader): Promise<OpenBlob> => {
    const { index } = header
    const blob = opened.get(index) ?? (await openBlob(blobs, header))
    opened.set(index, blob)
    return blob
  }
  const seenIn = (header: BatchHeader): Seen => {
    const { index, count } = header
    const leaves = seen.get(index)?.leaves ?? bitmap(count)
    const numbers =
      seen.get(index)?.numbers ?? (batchVersionOf(header) === 2 ? leaves : bitmap(count))
    const known = { leaves, numbers }
    seen.set(index, known)
    return known
  }
  /** Why a row is not what its batch has in its place. */
  const misfit = async (
    header: BatchHeader,
    leaf: Uint8Array,
  ): Promise<readonly ['row' | 'number', string]> => {
    const { index } = header
    const place =
      batchVersionOf(header) === 2 && searches++ < mostSearches
        ? await (await open(header)).search(leaf)
        : undefined
    return place === undefined
      ? ['row', `it is not what was anchored in batch ${index}`]
      : ['number', `batch ${index} has it in the place of number ${numbersOf(header).seqAt(place)}`]
  }

  const addRow = async (row: AuditedRow): Promise<void> => {
    counts.looked_at++
    const report = (kind: 'row' | 'number' | 'claims', words: string, batch?: number): void =>
      findings.add(kind, batch, `${row.sensor} ${formatIso(row.timeMs)}: ${words}`)
    const [partition, n] = [partitionOfSeq(row.seq), nOfSeq(row.seq)]
    if (!(partition >= 0 && partition < partitionCount)) {
      report('row', `there is no partition ${partition}, which its number ${row.seq} names`)
      return
    }
    const leaf = leafOrNothing(leafOf, row)
    if (leaf === undefined) {
      report('row', 'its values have no leaf: one of them is too large, or not whole')
      return
    }
    const header = headerOf(headers, row.seq)
    if (header === 'before') counts.before++
    if (header === 'not_anchored') {
      counts.not_anchored++
      pending.add(row, leaf)
    }
    if (typeof header === 'string') return
    if (header === undefined) {
      report('row', `no batch holds its number ${row.seq}`)
      return
    }
    const { index } = header
    const [leafVersion, version] = [row.leafVersion ?? 1, batchVersionOf(header)]
    // a leaf of version 1 would have no area and no flags, even where it is the one in the tree
    if (leafVersion !== version) {
      const words = `it has a leaf of version ${leafVersion}, and batch ${index} is of version ${version}`
      report('row', words, index)
      return
    }
    const blob = await open(header)
    const place = await blob.placeOf(leaf, row.seq)
    if (place === undefined && blob.isGone && index < blobsBeforeBatch) {
      counts.not_checked++
      const known = unchecked.get(index) ?? bitmap(header.count)
      unchecked.set(index, known)
      known.mark(numbersOf(header).placeOf(partition, n))
      return
    }
    if (place === undefined) {
      const [kind, words] = await misfit(header, leaf)
      report(kind, words, index)
      return
    }
    if (row.timeMs < header.timeMinMs || row.timeMs > header.timeMaxMs)
      report('claims', `it is not within the times that batch ${index} claims`, index)
    if (!isAll) {
      counts.fit++
      return
    }
    const { leaves, numbers } = seenIn(header)
    if (leaves !== numbers && !numbers.mark(numbersOf(header).placeOf(partition, n)))
      report('number', `batch ${index} has another reading with its number ${row.seq}`, index)
    if (leaves.mark(place)) counts.fit++
    else report('row', 'it is there twice', index)
  }

  return {
    add: async (rows) => {
      for (const row of rows) await addRow(row)
    },
    report: () => ({ ...counts }),
    findMissing: (keptFromMs, expired) => {
      for (const header of headers) {
        const { index, count, timeMinMs, timeMaxMs } = header
        const { leaves, numbers } = seen.get(index) ?? none
        const archived = countHeld(expired?.held?.get(index), numbers, count)
        counts.archived += archived
        const rowsUnchecked = unchecked.get(index)?.count() ?? 0
        const missing = Math.max(0, count - leaves.count() - archived - rowsUnchecked)
        const isUnchecked =
          batchVersionOf(header) === 2 && expired !== undefined && expired.held === undefined
        if (timeMaxMs < keptFromMs) counts.expired += missing
        else if (isUnchecked && timeMinMs < expired.rawBeforeMs) counts.not_checked += missing
        else if (timeMinMs < keptFromMs) counts.perhaps_expired += missing
        else if (missing > 0) findings.add('missing', index, missingWords(header, missing, leaves))
        // else the numbers of the missing ones are not known
        const unused = count - numbers.count()
        if (missing === 0 && archived + rowsUnchecked === 0 && unused > 0)
          findings.add(
            'number',
            index,
            `batch ${index}: no reading has ${unused} of its ${count} numbers; the first is ${numbersOf(header).seqAt(numbers.firstUnmarked())}`,
          )
      }
    },
  }
}

/** In version 2 the place of a leaf says which number is missing. */
function missingWords(header: BatchHeader, missing: number, leaves: Bitmap): string {
  const { index, count } = header
  const words = `batch ${index}: ${missing} of its ${count} readings have no row that fits`
  return batchVersionOf(header) === 1 || missing < count - leaves.count()
    ? words
    : `${words}; the first is number ${numbersOf(header).seqAt(leaves.firstUnmarked())}`
}

function leafOrNothing(
  leafOf: (row: AuditedRow) => Uint8Array,
  row: AuditedRow,
): Uint8Array | undefined {
  try {
    return leafOf(row)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
