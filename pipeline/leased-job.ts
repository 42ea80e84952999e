/** What one process does at a time, from when its lease is taken until it is given or lost. */
export type LeasedJob = {
  readonly start: () => void
  /** Resolves when it has ended. */
  readonly stop: () => Promise<void>
}

/** @param run until the signal is aborted  @param stopping of the process */
export function leasedJob(
  run: (stop: AbortSignal) => Promise<void>,
  stopping: AbortSignal,
): LeasedJob {
  let running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined
  return {
    start: () => {
      const stop = new AbortController()
      running = { stop, done: run(AbortSignal.any([stopping, stop.signal])) }
    },
    stop: async () => {
      running?.stop.abort()
      await running?.done
      running = undefined
    },
  }
}
