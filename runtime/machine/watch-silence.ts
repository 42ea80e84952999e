/**
 * Notices that a process is alive but no longer works: stopped, or caught in a loop. Its health is
 * checked again and again, and it counts as frozen after several requests in a row that it accepted
 * and never answered within their full time. So neither one long piece of work, nor a suspended
 * supervisor, nor a process that is not listening yet counts.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export type Health = 'answered' | 'not listening' | 'silent'

export type SilenceBound = {
  /** Between two checks. */
  readonly everyMs: number
  readonly answerWithinMs: number
  /** It is frozen after this many unanswered checks in a row. */
  readonly unanswered: number
}

/** Half a minute to a minute. */
export const silenceBound: SilenceBound = { everyMs: 5_000, answerWithinMs: 5_000, unanswered: 6 }

type Options = {
  readonly check: (withinMs: number) => Promise<Health>
  readonly bound: SilenceBound
  readonly onFrozen: () => void
  readonly stop: AbortSignal
}

/** Resolves when stopped; continues after `onFrozen`, as that is followed by a restart. */
export async function watchSilence({ check, bound, onFrozen, stop }: Options): Promise<void> {
  let unanswered = 0
  while (!stop.aborted) {
    await sleep(bound.everyMs, undefined, { signal: stop, ref: false }).catch(() => undefined)
    if (stop.aborted) return
    unanswered = (await check(bound.answerWithinMs)) === 'silent' ? unanswered + 1 : 0
    if (unanswered < bound.unanswered || stop.aborted) continue
    unanswered = 0
    onFrozen()
  }
}

/** Requests `/health` from an admin port on this machine. */
export async function checkHealth(adminPort: number, withinMs: number): Promise<Health> {
  const late = AbortSignal.timeout(withinMs)
  try {
    const response = await fetch(`http://127.0.0.1:${adminPort}/health`, {
      signal: late,
      headers: { connection: 'close' },
    })
    await response.arrayBuffer()
    return 'answered'
  } catch {
    return late.aborted ? 'silent' : 'not listening'
  }
}
