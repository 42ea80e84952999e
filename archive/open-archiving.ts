/** What the holder of the lease does, from what the process has opened: runs, and retention after them. */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Keccak } from '../core/proof/leaf.ts'
import type { Logger } from '../runtime/log.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import type { Store } from '../store/store.ts'
import { archiveOnce } from './archive-once.ts'
import { Archiving } from './archiving.ts'
import type { ArchiveConfig } from './config.ts'
import { Expiry } from './expire.ts'
import type { ArchiveMetrics } from './metrics.ts'
import { noteChange } from './note-change.ts'
import { Retaining } from './retaining.ts'

type Options = {
  readonly nc: NatsConnection
  /** The store, to be read. */
  readonly store: Store
  /** The same to be written. */
  readonly openWriter: () => Promise<Store>
  readonly settings: ArchiveConfig
  readonly keccak: Keccak
  /** Bucket `system`. */
  readonly system: KV
  readonly metrics: ArchiveMetrics
  readonly nowMs: () => number
  readonly life: Lifetime
  readonly log: Logger
}

export function openArchiving(options: Options): Archiving {
  const { nc, store, openWriter, settings, keccak, system, metrics, nowMs, life, log } = options
  const { folder, rawDays, blobDays, everyMs } = settings
  const days = { rawDays, blobDays }
  const reporting = { system, metrics, nowMs, log }
  const expiry = new Expiry({ nc, store, openWriter, folder, ...days, keccak, pause: life.pause })
  const retaining = new Retaining({
    ...days,
    ...reporting,
    expire: (catalogue, now) => expiry.round(catalogue, now),
    unusedBytes: store.unusedBytes,
  })
  return new Archiving({
    ...reporting,
    archive: (stop) =>
      archiveOnce({ nc, store, settings, keccak, nowMs: nowMs(), isPart: false, stop }),
    // a former setting leaves its record, which says what is gone; there is nothing to report
    retaining: rawDays === undefined && blobDays === undefined ? undefined : retaining,
    noteChange: (stop) => noteChange(nc, { ...days, system, nowMs, log }, stop),
    everyMs,
    folder,
    life,
  })
}
