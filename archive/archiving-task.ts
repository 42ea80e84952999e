import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../core/iso-time.ts'
import type { Catalogue } from '../operate/archive/catalogue.ts'
import { inWords } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { type Leases, leaseRoundMs, openLeases } from '../runtime/nats/leases.ts'
import { inTime, type Lifetime } from '../runtime/process/lifetime.ts'
import { quietRepeats } from '../runtime/quiet-repeats.ts'
import { alivePrefixes, neededByArchive, systemKeys, tasks } from '../schemas/system-keys.ts'
import type { Archived } from './archive-once.ts'
import type { ArchiveMetrics } from './metrics.ts'

type Options = {
  /** One run further, if there is one; stops between two rows. */
  readonly archive: (stop: AbortSignal) => Promise<Archived>
  readonly everyMs: number
  /** Where the archive is, for people. */
  readonly folder: string
  readonly nc: NatsConnection
  /** Buckets. */
  readonly leaseKeys: KV
  readonly system: KV
  /** Stable over restarts. */
  readonly holder: string
  readonly metrics: ArchiveMetrics
  readonly nowMs: () => number
  readonly life: Lifetime
  readonly log: Logger
}

/** Archives while this process holds the lease; the others stand by. */
export class ArchivingTask {
  readonly #options: Options
  readonly #leases: Leases
  readonly #leasing: Promise<void>
  readonly #repeats = quietRepeats()
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  #reported = ''

  constructor(options: Options) {
    const { nc, leaseKeys, holder, life, log } = options
    this.#options = options
    this.#leases = openLeases({
      nc,
      kv: leaseKeys,
      holder,
      shared: [],
      single: [tasks.archive],
      aliveAs: alivePrefixes.archive,
      aliveValue: formatIso(Date.now()),
      onHeld: () => {
        const stop = new AbortController()
        const either = AbortSignal.any([stop.signal, life.stopping])
        this.#running = { stop, done: this.#work(either) }
      },
      onRelease: () => this.#end(),
      onLost: () => void this.#end(),
      onFailure: (error) => log.warn({ err: error }, 'leases: trying again'),
    })
    this.#leasing = life.repeat(leaseRoundMs, this.#leases.round)
  }

  /** Gives the lease free as soon as what is under way has ended. */
  readonly end = async (): Promise<void> => {
    await this.#leasing
    await inTime(this.#end().then(this.#leases.releaseAll))
  }

  async #work(stop: AbortSignal): Promise<void> {
    const { everyMs, life } = this.#options
    while (!stop.aborted) {
      // a run that was full is followed by the next one at once
      const isMore = await this.#once(stop)
      if (!isMore && !stop.aborted) await life.pause(everyMs)
    }
  }

  async #once(stop: AbortSignal): Promise<boolean> {
    const { archive, metrics, log, folder, nowMs } = this.#options
    try {
      const { catalogue, made } = await archive(stop)
      metrics.tell(catalogue)
      await this.#report(catalogue, null)
      if (made !== undefined)
        log.info(
          { run: made.run, readings: made.readings, files: made.files.length, folder },
          'archived',
        )
      return made !== undefined
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
    const { system, folder, log } = this.#options
    const text = JSON.stringify({
      folder,
      ...(catalogue && {
        run: catalogue.runs.length,
        end: catalogue.end,
        complete_until: catalogue.complete_until,
      }),
      trouble,
    })
    if (text === this.#reported) return
    try {
      if (catalogue !== undefined)
        await system.put(neededByArchive, JSON.stringify({ readings: catalogue.end.position + 1 }))
      await system.put(systemKeys.archive, text)
      this.#reported = text
    } catch (error) {
      log.debug({ err: error }, 'how far the archive goes was not reported')
    }
  }

  async #end(): Promise<void> {
    this.#running?.stop.abort()
    await this.#running?.done
    this.#running = undefined
  }
}
