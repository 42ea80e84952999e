/**
 * Notices that a process is alive and does nothing any more: stopped, or caught in a loop. It is
 * asked again and again, and found frozen after several questions in a row that it took and never
 * answered, each with its full time; so neither one long piece of work nor a sleep of the asker counts,
 * nor a process that does not listen yet.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export type Heard = 'answered' | 'not listening' | 'silent'

export type SilenceBound = {
  /** Between two questions. */
  readonly everyMs: number
  readonly answerWithinMs: number
  /** So many in a row unanswered, and it is frozen. */
  readonly unanswered: number
}

/** Half a minute to a minute. */
export const silenceBound: SilenceBound = { everyMs: 5_000, answerWithinMs: 5_000, unanswered: 6 }

type Options = {
  readonly ask: (withinMs: number) => Promise<Heard>
  readonly bound: SilenceBound
  readonly onFrozen: () => void
  readonly stop: AbortSignal
}

/** Resolves when stopped; goes on after it has told, since another process may be there by then. */
export async function watchSilence({ ask, bound, onFrozen, stop }: Options): Promise<void> {
  let unanswered = 0
  while (!stop.aborted) {
    await sleep(bound.everyMs, undefined, { signal: stop, ref: false }).catch(() => undefined)
    if (stop.aborted) return
    unanswered = (await ask(bound.answerWithinMs)) === 'silent' ? unanswered + 1 : 0
    if (unanswered < bound.unanswered || stop.aborted) continue
    unanswered = 0
    onFrozen()
  }
}

/** Asks `/health` of an admin port on this machine. */
export async function askHealth(adminPort: number, withinMs: number): Promise<Heard> {
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
