/**
 * KV `system`, key `retention`: what the operator lets go because the archive has it. The archive's process
 * writes it before it deletes anything, and only over what it has proven against the chain's roots.
 * So what a reader does not find in the store is missing only if it is not of an expired period.
 *
 * Readings that came late for an expired period are in the store until a later run of the archive
 * has them. So an expired period is read from both, and a reading that is in both counts once, by its `seq`.
 */
import { checkOf } from './check.ts'

export type Retention = {
  /**
   * Readings measured before it may be gone from the store: a UTC midnight, ms since the epoch. It never
   * goes back. null: none is.
   */
  readonly rawBeforeMs: number | null
  /** Batches before this one may have no leaves in BLOBS. null: all have them. */
  readonly blobsBeforeBatch: number | null
  /** What is gone is in the archive's runs up to this one: a copy that lacks it is too old to answer. */
  readonly run?: number
}

export const nothingExpired: Retention = { rawBeforeMs: null, blobsBeforeBatch: null }

const wholeOrNull = { type: ['integer', 'null'], minimum: 0 } as const

export const retentionSchema = {
  type: 'object',
  required: ['rawBeforeMs', 'blobsBeforeBatch'],
  properties: {
    rawBeforeMs: wholeOrNull,
    blobsBeforeBatch: wholeOrNull,
    run: { type: 'integer', minimum: 1 },
  },
} as const

const isRetention = checkOf<Retention>(retentionSchema)

/** undefined: the value cannot be read, which must not be taken for "nothing expired". */
export const parseRetention = (value: unknown): Retention | undefined =>
  isRetention(value) ? value : undefined

export const retentionText = (retention: Retention): string =>
  JSON.stringify({ v: 1, ...retention })
