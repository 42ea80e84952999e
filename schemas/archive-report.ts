/** KV `system`, key `archive`: how far the archive goes, as the process that archives reports it. */
import { checkOf } from './check.ts'

/** What becomes of what is archived: `retention.ts` has what is gone. */
export type RetentionReport = {
  /** As set; null: for ever. */
  readonly raw_days: number | null
  readonly blob_days: number | null
  /** Readings and batches that were deleted, ever. */
  readonly readings: number
  readonly batches: number
  /** Readings of expired days that stay in the store, of the days that were looked at last. */
  readonly left: number
  /** Bytes of the store's file that are used again; null: the engine returns them. */
  readonly unused_bytes: number | null
  /** Why less is gone than is old enough, though nothing is wrong. */
  readonly waits: string | null
  /** Why nothing is deleted: a person must look. */
  readonly trouble: string | null
}

export type ArchiveReport = {
  readonly folder: string
  /** Of the catalogue as it was read last; absent: the process has not read one yet. */
  readonly run?: number
  readonly batch?: number
  readonly complete_until?: string | null
  readonly readings?: number
  /** Of all files. */
  readonly bytes?: number
  /** What keeps it from going on, and since when; null: nothing. */
  readonly trouble: string | null
  readonly trouble_since?: string | null
  /** Absent: everything stays for ever. */
  readonly retention?: RetentionReport
}

const whole = { type: 'integer', minimum: 0 } as const
const wholeOrNull = { type: ['integer', 'null'], minimum: 0 } as const
const maybe = { type: ['string', 'null'] } as const

export const archiveReportSchema = {
  type: 'object',
  required: ['folder', 'trouble'],
  properties: {
    folder: { type: 'string' },
    run: whole,
    batch: whole,
    complete_until: maybe,
    readings: whole,
    bytes: whole,
    trouble: maybe,
    trouble_since: maybe,
    retention: {
      type: 'object',
      required: ['raw_days', 'blob_days', 'readings', 'batches', 'left', 'unused_bytes'],
      properties: {
        raw_days: wholeOrNull,
        blob_days: wholeOrNull,
        readings: whole,
        batches: whole,
        left: whole,
        unused_bytes: wholeOrNull,
        waits: maybe,
        trouble: maybe,
      },
    },
  },
} as const

const isReport = checkOf<ArchiveReport>(archiveReportSchema)

export const parseArchiveReport = (value: unknown): ArchiveReport | undefined =>
  isReport(value) ? value : undefined
