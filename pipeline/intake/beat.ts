/**
 * When batches that are not full close: those of all partitions in one turn of the event loop. Their commits
 * are then one write to NATS and one wake-up of it, and their rows one write to the store (decision 64).
 */

/**
 * Beats are at least so far apart. A commit costs the same for one reading as for a hundred, so at a few
 * thousand readings a second there would be nothing but commits.
 */
const spacingMs = 10

export class Beat {
  readonly #nowMs: () => number
  #lastMs = -Infinity
  #next: Promise<void> | undefined

  /** @param nowMs a clock that never jumps */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Resolves at the next beat: after a pause at once, but with what else this turn reads. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      const beat = (): void => {
        this.#lastMs = this.#nowMs()
        this.#next = undefined
        resolve()
      }
      const waitMs = this.#lastMs + spacingMs - this.#nowMs()
      if (waitMs > 0) setTimeout(beat, waitMs)
      else setImmediate(beat)
    })
    return this.#next
  }
}
