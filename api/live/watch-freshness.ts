/**
 * How old is our copy of a bucket? Checked every half second by the bucket's barrier, which a dead
 * server, a lost watch and a watch that lags all fail alike.
 */
import { pause } from '../../runtime/pause.ts'

export type Freshness = AsyncDisposable & {
  readonly staleMs: () => number
  /**
   * Checks now, for a caller that finds the copy too old: a process that was suspended, or busy for some
   * seconds, has its next check before its next answer. Resolves after `withinMs` at the latest.
   */
  readonly confirm: (withinMs: number) => Promise<void>
}

type Options = {
  /** Resolves when memory holds what was written before the call. */
  readonly barrier: () => Promise<void>
  readonly everyMs?: number
  /** A clock that never jumps, in ms. */
  readonly clockMs?: () => number
}

/**
 * A check that was under way when the server died completes seconds later, or never; a new check
 * finds the server back. So checks overlap, up to a bound.
 */
const mostOpen = 16

/** Resolves after the first check. */
export async function watchFreshness({
  barrier,
  everyMs = 500,
  clockMs = () => performance.now(),
}: Options): Promise<Freshness> {
  const stop = new AbortController()
  let confirmedMs = clockMs()
  await barrier()
  let open = 0

  const check = async (): Promise<void> => {
    const startedMs = clockMs()
    open++
    try {
      await barrier()
      // everything written before the check is known to be here, nothing later
      confirmedMs = Math.max(confirmedMs, startedMs)
    } catch {
      // the next check tells more than this failure does
    } finally {
      open--
    }
  }
  const checking = (async () => {
    while (!stop.signal.aborted) {
      if (open < mostOpen) void check()
      await pause(everyMs, stop.signal)
    }
  })()
  let confirming: Promise<void> | undefined
  return {
    staleMs: () => clockMs() - confirmedMs,
    confirm: (withinMs) =>
      (confirming ??= Promise.race([
        ...(open < mostOpen ? [check()] : []),
        pause(withinMs, stop.signal),
      ]).finally(() => (confirming = undefined))),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await checking
    },
  }
}
