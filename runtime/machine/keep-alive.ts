/**
 * One service under supervision: started, started again whenever it ends or is frozen. One that
 * keeps ending is given up when it is vital; any other is degraded: tried again for ever, at longer
 * and longer times, while the rest goes on. Its end after it was disposed is not a failure.
 */

import { exitCodes, inWords, MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { pause } from '../pause.ts'
import { type Child, type Exit, exitInWords } from './child.ts'
import { type Heard, type SilenceBound, silenceBound, watchSilence } from './watch-silence.ts'

export type Service = {
  readonly name: string
  readonly start: () => Promise<Child>
  /** What it said last, for the person who must act. */
  readonly lastWords?: () => string | undefined
  /** Asks whether it still does anything. */
  readonly hear?: (withinMs: number) => Promise<Heard>
}

export type Kept = AsyncDisposable & {
  readonly name: string
  readonly pid: () => number
  /** Rejects with MustAct when the service is given up; never resolves. */
  readonly failed: Promise<never>
  /** Why it keeps ending, in words; undefined: it does not. */
  readonly degraded: () => string | undefined
  /** Stops it in good order; it is started again, which counts against no bound. */
  readonly restart: () => Promise<void>
}

type KeepOptions = {
  readonly log: Logger
  /** Nothing goes on without it: it is given up when it keeps ending. */
  readonly isVital?: boolean
  /** It keeps ending: so many ends within that time; not vital, so many with less between two. */
  readonly bound?: { readonly ends: number; readonly withinMs: number }
  readonly firstPauseMs?: number
  readonly silence?: SilenceBound
  /** Called when it runs again, with another pid, and when it becomes degraded or recovers. */
  readonly onRestart?: () => void
}

/** Between two tries of one that keeps ending. */
const longestPauseMs = 60_000

/** @throws what the first start throws: only a service that once ran is started again */
export async function keepAlive(service: Service, options: KeepOptions): Promise<Kept> {
  const { log, bound = { ends: 5, withinMs: 60_000 }, firstPauseMs = 200, onRestart } = options
  const { silence = silenceBound, isVital = true } = options
  const { name } = service
  const stopping = new AbortController()
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  // Whoever does not look at it must not be ended by it.
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
        `${name} keeps ending: the rest goes on without it, and it is tried again`,
      )
    if (why === undefined && degraded !== undefined)
      log.info({ service: name }, `${name} runs again`)
    degraded = why
    onRestart?.()
  }
  /** What has run for that long does not keep ending. */
  const recoverLater = (started: Child): void =>
    void pause(bound.withinMs, stopping.signal).then(() => {
      if (degraded === undefined || child !== started || !child.isAlive()) return
      if (!stopping.signal.aborted) setDegraded(undefined)
    })

  const afterEnd = async (how: string, isFinal: boolean): Promise<void> => {
    const nowMs = performance.now()
    endsAtMs = [...endsAtMs, nowMs].filter((endMs) => nowMs - endMs < bound.withinMs)
    const said = service.lastWords?.()
    const reason = `${how}${said === undefined ? '' : `: ${said}`}`
    if (isVital && isFinal) throw new MustAct(`${name} cannot run (${reason})`)
    if (isVital && endsAtMs.length >= bound.ends)
      throw new MustAct(
        `${name} ended ${endsAtMs.length} times within ${bound.withinMs / 1_000} s, last with ${reason}`,
      )
    endsInARow = nowMs - startedAtMs < bound.withinMs ? endsInARow + 1 : 1
    if (!isVital && (isFinal || endsInARow >= bound.ends))
      setDegraded(`it ended ${endsInARow} times, last with ${reason}`)
    log.warn({ service: name, ends: endsInARow }, `${name} ended (${reason}): starting again`)
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
  const { hear } = service
  const listening =
    hear &&
    watchSilence({
      ask: hear,
      bound: silence,
      stop: stopping.signal,
      onFrozen: () => {
        log.warn({ service: name, pid: child.pid }, `${name} is frozen: ending it`)
        // it hears nothing else
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
      // A start that was under way when we stopped.
      await child.stop()
    },
  }
}

/** Called wrongly: the same call again is as wrong. */
const isFinal = ({ code }: Exit): boolean => code === exitCodes.wrongUsage
