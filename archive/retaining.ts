/** Retention beside the archive: its rounds, what it says in the log and what it reports. */
import type { KV } from '@nats-io/kv'
import type { Catalogue } from '../operate/archive/catalogue.ts'
import { inWords } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import { quietRepeats } from '../runtime/quiet-repeats.ts'
import { parseArchiveReport, type RetentionReport } from '../schemas/archive-report.ts'
import { systemKeys } from '../schemas/system-keys.ts'
import type { Expired, Now } from './expire.ts'
import type { ArchiveMetrics } from './metrics.ts'

type Options = {
  readonly rawDays: number | undefined
  readonly blobDays: number | undefined
  readonly expire: (catalogue: Catalogue, now: Now) => Promise<Expired>
  readonly unusedBytes: () => Promise<number | undefined>
  /** Bucket `system`. */
  readonly system: KV
  readonly metrics: ArchiveMetrics
  readonly nowMs: () => number
  readonly log: Logger
}

export class Retaining {
  readonly #options: Options
  readonly #repeats = quietRepeats()
  #report: RetentionReport | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** From here on it reports its own settings. */
  async open(): Promise<void> {
    this.#report = await this.#formerReport()
  }

  /** A failure keeps the archive from nothing. @returns whether the next round may follow at once */
  async round(catalogue: Catalogue, stop: AbortSignal): Promise<boolean> {
    const { expire, unusedBytes, metrics, nowMs, log } = this.#options
    const former = (this.#report ??= await this.#formerReport())
    try {
      const done = await expire(catalogue, { nowMs: nowMs(), stop })
      const { readings, batches, left, waits, isMore } = done
      const hasDeleted = readings + batches > 0
      if (hasDeleted)
        log.info(
          { readings, batches, ...done.retention },
          'deleted from the store what the archive has',
        )
      metrics.expired(done.retention, null)
      this.#report = {
        ...former,
        readings: former.readings + readings,
        batches: former.batches + batches,
        left: hasDeleted ? left : former.left,
        unused_bytes: (await unusedBytes()) ?? null,
        waits,
        trouble: null,
      }
      return isMore
    } catch (error) {
      if (stop.aborted) return false
      const trouble = inWords(error)
      if (this.#repeats.show(trouble, nowMs()) !== undefined)
        log.error({ err: error }, `retention does not go on: ${trouble}`)
      metrics.expired(undefined, trouble)
      this.#report = { ...former, waits: null, trouble }
      return false
    }
  }

  report(): RetentionReport | undefined {
    return this.#report
  }

  /** Of a former process: what it counted. */
  async #formerReport(): Promise<RetentionReport> {
    const { system, rawDays, blobDays } = this.#options
    const former = parseArchiveReport(await readEntry(system, systemKeys.archive, null))?.retention
    return {
      raw_days: rawDays ?? null,
      blob_days: blobDays ?? null,
      readings: former?.readings ?? 0,
      batches: former?.batches ?? 0,
      left: former?.left ?? 0,
      unused_bytes: former?.unused_bytes ?? null,
      waits: null,
      trouble: null,
    }
  }
}
