/**
 * One service under supervision: started, and restarted whenever it exits or is frozen. A vital
 * service that keeps exiting is given up; any other is degraded: retried without end, after longer
 * and longer pauses, while the rest continues. Its exit after it was disposed is not a failure.
 */

import { exitCodes, inWords, MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { pause } from '../pause.ts'
import { type Child, type Exit, exitInWords } from './child.ts'
import { type Health, type SilenceBound, silenceBound, watchSilence } from './watch-silence.ts'

export type Service = {
  readonly name: string
  readonly start: () => Promise<Child>
  /** Its last line of output, for the person who must act. */
  readonly lastWords?: () => string | undefined
  /** Checks whether it still works. */
  readonly health?: (withinMs: number) => Promise<Health>
}

export type Supervised = AsyncDisposable & {
  readonly name: string
  readonly pid: () => number
  /** Rejects with MustAct when the service is given up; never resolves. */
  readonly failed: Promise<never>
  /** Why it keeps exiting, for people; undefined: it does not. */
  readonly degraded: () => string | undefined
  /** Stops it in order and starts it again; this does not count towards the bound. */
  readonly restart: () => Promise<void>
}

type KeepOptions = {
  readonly log: Logger
  /** Nothing works without it: it is given up when it keeps exiting. */
  readonly isVital?: boolean
  /** It keeps exiting: `ends` exits within `withinMs`; if not vital, `ends` in a row with less between two. */
  readonly bound?: { readonly ends: number; readonly withinMs: number }
  readonly firstPauseMs?: number
  readonly silence?: SilenceBound
  /** Called after a restart, with another pid, and when it becomes degraded or recovers. */
  readonly onRestart?: () => void
}

/** Between two starts of a service that keeps exiting. */
const longestPauseMs = 60_000

/** @throws what the first start throws: only a service that once ran is restarted */
export async function keepAlive(service: Service, options: KeepOptions): Promise<Supervised> {
  const { log, bound = { ends: 5, withinMs: 60_000 }, firstPauseMs = 200, onRestart } = options
  const { silence = silenceBound, isVital = true } = options
  const { name } = service
  const stopping = new AbortController()
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  // a caller that does not use it must not exit because of it
  failed.catch(() => undefined)
  let child = await service.start()
  let wanted: Child | undefined
  let endsAtMs: number[] = []
  let startedAtMs = performance.now()
  let endsInARow = 0
  let degraded: string | undefined

  const setDegraded = (why: string | undefined): void => {
    if (why !== undefined && degraded === undefined)
      log.error(
        { service: name, reason: why },
        `${name} keeps exiting: the rest continues without it, and it is restarted`,
      )
    if (why === undefined && degraded !== undefined)
      log.info({ service: name }, `${name} runs again`)
    degraded = why
    onRestart?.()
  }
  /** A service that has run for that long no longer counts as degraded. */
  const recoverLater = (started: Child): void =>
    void pause(bound.withinMs, stopping.signal).then(() => {
      if (degraded === undefined || child !== started || !child.isAlive()) return
      if (!stopping.signal.aborted) setDegraded(undefined)
    })

  const afterEnd = async (how: string, isFinal: boolean): Promise<void> => {
    const nowMs = performance.now()
    endsAtMs = [...endsAtMs, nowMs].filter((endMs) => nowMs - endMs < bound.withinMs)
    const lastLine = service.lastWords?.()
    const reason = `${how}${lastLine === undefined ? '' : `: ${lastLine}`}`
    if (isVital && isFinal) throw new MustAct(`${name} cannot run (${reason})`)
    if (isVital && endsAtMs.length >= bound.ends)
      throw new MustAct(
        `${name} exited ${endsAtMs.length} times within ${bound.withinMs / 1_000} s, last with ${reason}`,
      )
    endsInARow = nowMs - startedAtMs < bound.withinMs ? endsInARow + 1 : 1
    if (!isVital && (isFinal || endsInARow >= bound.ends))
      setDegraded(`it exited ${endsInARow} times, last with ${reason}`)
    log.warn({ service: name, ends: endsInARow }, `${name} exited (${reason}): restarting`)
    const pauseMs = firstPauseMs * 2 ** Math.min(endsInARow - 1, 20)
    await pause(Math.min(longestPauseMs, pauseMs), stopping.signal)
  }
  const startAgain = async (): Promise<void> => {
    try {
      startedAtMs = performance.now()
      child = await service.start()
      onRestart?.()
      if (degraded !== undefined) recoverLater(child)
    } catch (error) {
      await afterEnd(inWords(error), false)
      if (!stopping.signal.aborted) await startAgain()
    }
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const exit = await child.exited
      if (stopping.signal.aborted) return
      if (wanted !== child) await afterEnd(exitInWords(exit), isFinal(exit))
      if (!stopping.signal.aborted) await startAgain()
    }
  }
  const { health } = service
  const listening =
    health &&
    watchSilence({
      check: health,
      bound: silence,
      stop: stopping.signal,
      onFrozen: () => {
        log.warn({ service: name, pid: child.pid }, `${name} is frozen: killing it`)
        // a frozen process does not react to any other signal
        child.kill('SIGKILL')
      },
    })
  const watching = Promise.all([watch().catch(fail), listening])
  return {
    name,
    pid: () => child.pid,
    failed,
    degraded: () => degraded,
    restart: async () => {
      wanted = child
      await child.stop()
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await child.stop()
      await watching
      // a start that was under way when we stopped
      await child.stop()
    },
  }
}

/** Called wrongly: a retry cannot succeed. */
const isFinal = ({ code }: Exit): boolean => code === exitCodes.wrongUsage
