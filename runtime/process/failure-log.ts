import { codeOf } from '../exit.ts'
import type { Logger } from '../log.ts'
import { quietRepeats } from '../quiet-repeats.ts'

/** An answer that failed for a reason of ours. */
export type FailedAnswer = {
  /** The pattern, not the path: there are only so many. */
  readonly route: string
  readonly requestId: string
  readonly err: unknown
}

/**
 * Tells of failed answers in the log. While NATS is away, a lane is full or a line too long, each
 * request of a stranger fails: of the same failure of a route only the first few of a while are
 * told, so nobody fills a disk with them. Metrics count all.
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
