import { forgetIdleHooks, type Ledger } from '../../core/delivery/ledger.ts'
import { secondMs } from '../../core/time.ts'
import { encodeLedger } from '../../schemas/webhooks/ledger-snapshot.ts'
import type { SnapshotWriter } from './snapshot.ts'
import type { Wal } from './wal.ts'

export type SnapshotKeeper = {
  /** Call when records are folded. */
  readonly folded: (records: number) => void
  /** Takes a snapshot if one is due and something has changed; only one is written at a time. */
  readonly keep: (monotonicMs: number, isLast?: boolean) => void
  /** Resolves when the snapshot under way is written, or has failed. */
  readonly settled: () => Promise<void>
}

const everyMs = 30 * secondMs
const everyRecords = 200_000

type Options = {
  readonly ledger: Ledger
  readonly position: Wal['position']
  readonly write: SnapshotWriter
  readonly startMs: number
  readonly onFailure: (error: unknown) => void
}

export function snapshotKeeper({
  ledger,
  position,
  write,
  startMs,
  onFailure,
}: Options): SnapshotKeeper {
  let changed = 0
  let takenMs = startMs
  let writing: Promise<unknown> = Promise.resolve()
  let isWriting = false

  return {
    folded: (records) => {
      changed += records
    },
    keep: (monotonicMs, isLast = false) => {
      const isDue = monotonicMs - takenMs >= everyMs || changed >= everyRecords || isLast
      if (!isDue || isWriting || changed === 0) return
      takenMs = monotonicMs
      changed = 0
      isWriting = true
      forgetIdleHooks(ledger)
      writing = write(encodeLedger(ledger), position())
        .catch(onFailure)
        .finally(() => {
          isWriting = false
        })
    },
    settled: async () => void (await writing),
  }
}
