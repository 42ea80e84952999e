import { codeOf } from '../exit.ts'
import type { Logger } from '../log.ts'
import { quietRepeats } from '../quiet-repeats.ts'

/** A request that failed through a fault of ours. */
export type FailedAnswer = {
  /** The pattern, not the path: there are few patterns. */
  readonly route: string
  readonly requestId: string
  readonly err: unknown
}

/**
 * Logs failed requests. While NATS is unavailable, or a queue is full, every client's request fails:
 * only the first few equal failures of a route are logged per period, so that clients cannot fill
 * the disk. Metrics count all.
 */
export function failureLog(
  log: Pick<Logger, 'error'>,
  nowMs: () => number = () => performance.now(),
): (failed: FailedAnswer & Readonly<Record<string, unknown>>) => void {
  const repeats = quietRepeats()
  return (failed) => {
    const { route, err } = failed
    const kind = codeOf(err) ?? (err instanceof Error ? err.name : 'unknown')
    const heldBack = repeats.show(`${route} ${kind}`, nowMs())
    if (heldBack === undefined) return
    log.error({ ...failed, ...(heldBack === 0 ? {} : { heldBack }) }, 'could not answer')
  }
}
