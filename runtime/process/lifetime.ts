import { setTimeout as sleep } from 'node:timers/promises'
import { stopped } from './stop-signal.ts'

/** A process has 10 s to stop; the remaining time is for closing connections and files. */
const orderlyMs = 7_000

/**
 * How long a process works: until it is to stop, or a part of it cannot continue.
 *
 *     working ──stop requested, or failed──▶ releasing ──done, or 7 s──▶ ended
 */
export class Lifetime {
  readonly #stop: AbortSignal
  readonly #ending = new AbortController()
  readonly #failed = Promise.withResolvers<never>()
  /** Aborted when a stop is requested, and at the end in any case. */
  readonly stopping: AbortSignal

  constructor(stop: AbortSignal) {
    this.#stop = stop
    this.stopping = AbortSignal.any([stop, this.#ending.signal])
    // `work` waits for it; a failure before that must not count as unhandled
    this.#failed.promise.catch(() => undefined)
  }

  /** Resolves after `ms`, or at once when the process stops. */
  readonly pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: this.stopping }).catch(() => undefined)

  /** The process cannot continue, and exits with this error. */
  readonly fail = (error: unknown): void => this.#failed.reject(error)

  /** Runs a task again and again, `ms` apart, until the process stops. */
  async repeat(ms: number, task: () => Promise<void>): Promise<void> {
    while (!this.stopping.aborted) {
      await task()
      await this.pause(ms)
    }
  }

  /**
   * Waits for the end: a requested stop, or a failure.
   * @param end ends what is left; nothing is waited for any more
   * @param release before that, unless it failed: commits what is under way and releases the rest
   * @throws what was given to `fail`
   */
  async work(end: () => Promise<void>, release?: () => Promise<void>): Promise<void> {
    try {
      await Promise.race([stopped(this.#stop), this.#failed.promise])
      if (release) await inTime(release())
    } finally {
      this.#ending.abort()
      await end()
    }
  }
}

/** Waits for an orderly end, but no longer than a process may take for it. */
export async function inTime(work: Promise<void>): Promise<void> {
  await Promise.race([work, sleep(orderlyMs, undefined, { ref: false })])
}
