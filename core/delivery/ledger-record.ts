/**
 * A record of a shard's ledger. Each is complete in itself, so a snapshot is simply a list of
 * records, and recovery folds both in the same way.
 */
import type { DeliveryKey, SourceName, Trigger } from './delivery.ts'
import type { WebhookNumber } from './webhook-id.ts'

/** The state of a delivery and its slot. */
export type DeliveryRecord = DeliveryKey & {
  /**
   * new: to be sent · wait: an attempt failed, or a client requested it again · done: the slot is
   * free · dead: given up, kept for queries and replays
   */
  readonly type: 'new' | 'wait' | 'done' | 'dead'
  readonly slot: number
  /** Attempts made so far, 0…11. */
  readonly attempts: number
  /** When the next attempt is due; of a dead one, when it died. ms since the epoch. */
  readonly dueMs: number
  readonly trigger: Trigger
}

export type HookRecord = {
  readonly type: 'hook'
  readonly webhook: WebhookNumber
  readonly change: /** The webhook is deleted, with all its deliveries. */
    | { readonly op: 'dropped' }
    /** Events of the source from this sequence on have no records; 0: none is missing. */
    | { readonly op: 'behind'; readonly source: SourceName; readonly from: number }
    /** Failures since the last success; 0: the last attempt succeeded. */
    | ({ readonly op: 'health' } & Health)
}

export type Health = {
  readonly failures: number
  /** ms since the epoch; 0 without failures. */
  readonly firstFailureMs: number
  readonly lastFailureMs: number
}

/** An owner's first record: proves that it owns the shard, and fences the previous owner. */
export type EpochRecord = { readonly type: 'epoch'; readonly atMs: number }

export type LedgerRecord = DeliveryRecord | HookRecord | EpochRecord

export const healthy: Health = { failures: 0, firstFailureMs: 0, lastFailureMs: 0 }
