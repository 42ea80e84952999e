import { setTimeout as pause } from 'node:timers/promises'
import type { KV } from '@nats-io/kv'
import { formatIso } from '../core/iso-time.ts'
import { bytesOf, type Catalogue } from '../operate/archive/catalogue.ts'
import { inWords } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { readEntry } from '../runtime/nats/buckets/read-entry.ts'
import type { Work } from '../runtime/process/leased-task.ts'
import type { Lifetime } from '../runtime/process/lifetime.ts'
import { quietRepeats } from '../runtime/quiet-repeats.ts'
import { type ArchiveReport, parseArchiveReport } from '../schemas/archive-report.ts'
import { neededByArchive, systemKeys } from '../schemas/system-keys.ts'
import type { Archived } from './archive-once.ts'
import type { ArchiveMetrics } from './metrics.ts'
import type { Retaining } from './retaining.ts'

type Options = {
  /** One run further, if there is one; stops between two rows. */
  readonly archive: (stop: AbortSignal) => Promise<Archived>
  /** Absent: what is archived stays in the store and in BLOBS as well. */
  readonly retaining: Retaining | undefined
  /** Before the first run. */
  readonly noteChange: (stop: AbortSignal) => Promise<void>
  readonly everyMs: number
  /** Where the archive is, for people. */
  readonly folder: string
  /** Bucket `system`. */
  readonly system: KV
  readonly metrics: ArchiveMetrics
  readonly nowMs: () => number
  readonly life: Lifetime
  readonly log: Logger
}

/** Run after run, while this process holds the lease. */
export class Archiving {
  readonly #options: Options
  readonly #repeats = quietRepeats()
  #hasBegun = false

  constructor(options: Options) {
    this.#options = options
  }

  readonly start = (): Work => {
    const stop = new AbortController()
    this.#hasBegun = false
    const done = this.#work(AbortSignal.any([stop.signal, this.#options.life.stopping]))
    return {
      stop: async () => {
        stop.abort()
        await done
      },
    }
  }

  async #work(stop: AbortSignal): Promise<void> {
    const { everyMs } = this.#options
    while (!stop.aborted) {
      // a run that was full is followed by the next one at once
      const isMore = await this.#once(stop)
      if (!isMore) await pause(everyMs, undefined, { signal: stop }).catch(() => undefined)
    }
  }

  async #once(stop: AbortSignal): Promise<boolean> {
    const { archive, metrics, log, folder, nowMs, retaining, noteChange } = this.#options
    try {
      if (!this.#hasBegun) {
        await noteChange(stop)
        await retaining?.open()
        this.#hasBegun = true
      }
      const { catalogue, made } = await archive(stop)
      metrics.show(catalogue)
      if (made !== undefined)
        log.info(
          { run: made.run, readings: made.readings, files: made.files.length, folder },
          'archived',
        )
      // what is archived already need not wait for what is not
      const isMore = made === undefined && (await retaining?.round(catalogue, stop)) === true
      await this.#report(catalogue, null)
      return made !== undefined || isMore
    } catch (error) {
      if (stop.aborted) return false
      metrics.hasTrouble()
      const words = inWords(error)
      if (this.#repeats.show(words, nowMs()) !== undefined)
        log.error({ err: error }, `the archive does not go on: ${words}`)
      await this.#report(undefined, words)
      return false
    }
  }

  /** For `status` and `doctor`; and what the log must keep for the next run. */
  async #report(catalogue: Catalogue | undefined, trouble: string | null): Promise<void> {
    const { system, folder, nowMs, log, retaining } = this.#options
    try {
      // what was archived before the trouble, perhaps by another process, still is
      const former = parseArchiveReport(await readEntry(system, systemKeys.archive))
      const since = former?.trouble === null ? undefined : former?.trouble_since
      const { retention: _, ...covered } = former ?? {}
      const retention = retaining?.report() ?? (retaining && former?.retention)
      const report: ArchiveReport = {
        ...covered,
        folder,
        ...(catalogue && coveredBy(catalogue)),
        trouble,
        trouble_since: trouble === null ? null : (since ?? formatIso(nowMs())),
        ...(retention && { retention }),
      }
      const text = JSON.stringify(report)
      if (text === JSON.stringify(former)) return
      if (catalogue !== undefined)
        await system.put(neededByArchive, JSON.stringify({ readings: catalogue.end.position + 1 }))
      await system.put(systemKeys.archive, text)
    } catch (error) {
      log.debug({ err: error }, 'how far the archive goes was not reported')
    }
  }
}

const coveredBy = (catalogue: Catalogue) => ({
  run: catalogue.runs.length,
  batch: catalogue.end.batch,
  complete_until: catalogue.complete_until,
  readings: catalogue.runs.reduce((sum, { readings }) => sum + readings, 0),
  bytes: bytesOf(catalogue),
})
