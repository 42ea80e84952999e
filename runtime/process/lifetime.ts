import { setTimeout as sleep } from 'node:timers/promises'
import { stopped } from './stop-signal.ts'

/** A process has 10 s to stop; connections and files are closed in what is left. */
const orderlyMs = 7_000

/**
 * How long a process works: until it is asked to stop, or something in it cannot go on.
 *
 *     working ──asked to stop, or failed──▶ letting go ──done, or 7 s──▶ ended
 */
export class Lifetime {
  readonly #stop: AbortSignal
  readonly #ending = new AbortController()
  readonly #failed = Promise.withResolvers<never>()
  /** Aborted when it is asked to stop, and at the end in any case. */
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

  /** The process cannot go on, and ends with this error. */
  readonly fail = (error: unknown): void => this.#failed.reject(error)

  /** Runs a task again and again, `ms` apart, until the process stops. */
  async repeat(ms: number, task: () => Promise<void>): Promise<void> {
    while (!this.stopping.aborted) {
      await task()
      await this.pause(ms)
    }
  }

  /**
   * Waits for the end: asked to stop, or failed.
   * @param end what is left to end; nothing waits any more
   * @param letGo before that, unless it failed: commits what is under way and gives the rest free
   * @throws what was given to `fail`
   */
  async work(end: () => Promise<void>, letGo?: () => Promise<void>): Promise<void> {
    try {
      await Promise.race([stopped(this.#stop), this.#failed.promise])
      if (letGo) await inTime(letGo())
    } finally {
      this.#ending.abort()
      await end()
    }
  }
}

/** Waits for an orderly end, but no longer than a process has for it. */
export async function inTime(work: Promise<void>): Promise<void> {
  await Promise.race([work, sleep(orderlyMs, undefined, { ref: false })])
}
