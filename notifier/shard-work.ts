/** What the owner of a shard works with: its parts share this, and each has its own file. */
import type { RateLimit } from '../core/access/rate-limit.ts'
import type { Ledger } from '../core/delivery/ledger.ts'
import type { WebhookNumber } from '../core/delivery/webhook-id.ts'
import type { Logger } from '../runtime/log.ts'
import type { SnapshotKeeper } from './ledger/snapshot-keeper.ts'
import type { Wal, WalContext } from './ledger/wal.ts'
import type { CatchUp } from './match/catch-up.ts'
import type { Matcher } from './match/matcher.ts'
import type { Limits } from './scheduler/limits.ts'
import type { Scheduler } from './scheduler/scheduler.ts'
import type { Deliverer, DelivererContext } from './send/deliverer.ts'

/** What all shards of a process share. */
export type ShardContext = WalContext &
  DelivererContext & {
    readonly worker: string
    readonly limits: Limits
    /** Per endpoint. */
    readonly rate: RateLimit
    readonly mostWaiting: number
    readonly logger: Logger
    /** A clock that never goes back, ms since the epoch, not before `leastMs`. */
    readonly clock: (leastMs: number) => () => number
    readonly onFatal: (error: unknown) => void
    /** Another process owns it now, according to the leases. */
    readonly isTaken: (shard: number) => Promise<boolean>
    /** The shard's oldest needed message of READINGS has changed. */
    readonly onNeeds: () => void
  }

/** The ledger in memory, and the log that it is folded from. */
export type ShardLedger = {
  readonly ledger: Ledger
  readonly wal: Wal
  readonly snapshots: SnapshotKeeper
  readonly nowMs: () => number
}

export type ShardWork = ShardLedger & {
  readonly context: ShardContext
  readonly shard: number
  readonly matcher: Matcher
  readonly catchUp: CatchUp
  readonly scheduler: Scheduler
  readonly deliver: Deliverer
  /** Deleted webhooks whose record of deletion is not folded yet. */
  readonly dropping: Set<WebhookNumber>
  /** Aborted when the shard is given up: no attempt starts after it. */
  readonly stop: AbortSignal
}
