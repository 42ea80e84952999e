/**
 * When was our copy of a bucket last known to be whole? Asked every half second by the bucket's
 * barrier, which a dead server, a lost watch and a watch that lags all fail alike.
 */
import { pause } from '../../runtime/pause.ts'

export type Heard = AsyncDisposable & { readonly unheardMs: () => number }

type Options = {
  /** Resolves when memory holds what was written before the call. */
  readonly barrier: () => Promise<void>
  readonly everyMs?: number
  /** A clock that never jumps, in ms. */
  readonly clockMs?: () => number
}

/**
 * A question that was under way when the server died is answered seconds later, or never; asking
 * anew is what finds the server back. So questions overlap, but not without bound.
 */
const mostOpen = 16

/** Resolves after the first answer. */
export async function hearFrom({
  barrier,
  everyMs = 500,
  clockMs = () => performance.now(),
}: Options): Promise<Heard> {
  const stop = new AbortController()
  let heardMs = clockMs()
  await barrier()
  let open = 0

  const ask = async (): Promise<void> => {
    const askedMs = clockMs()
    open++
    try {
      await barrier()
      // what was written before the question is known, nothing later
      heardMs = Math.max(heardMs, askedMs)
    } catch {
      // the next question tells more than this failure does
    } finally {
      open--
    }
  }
  const asking = (async () => {
    while (!stop.signal.aborted) {
      if (open < mostOpen) void ask()
      await pause(everyMs, stop.signal)
    }
  })()
  return {
    unheardMs: () => clockMs() - heardMs,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await asking
    },
  }
}
