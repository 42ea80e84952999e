/**
 * Everything that `up` prints, progress and log, through one writer, so that neither cuts the
 * other.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationStream } from '../../runtime/log.ts'
import { lineInWords } from '../../runtime/terminal-log.ts'
import { openStartProgress, type StartProgress } from './progress.ts'

export type UpOutput = Disposable & {
  /** Takes JSON lines, ours and our processes'; prints them in words. */
  readonly log: DestinationStream
  readonly progress: StartProgress
  /** Everything answers: from now on every line is shown. Held lines are in `start.log` there. */
  readonly isUp: (dataFolder: string) => void
  /** Stopping: that each process has stopped is not shown, unless it fails. */
  readonly isStopping: () => void
  /** The start or the stop failed: held lines are shown. */
  readonly hasFailed: () => void
}

type Options = {
  readonly isTerminal: boolean
  readonly write: (text: string) => void
  /** With `debug` every line is wanted at once. */
  readonly holdsBack: boolean
}

/** A start logs some dozens of lines; beyond this number the oldest are dropped. */
const mostHeld = 2_000
const shownAtOnce = /"level":"(warn|error|fatal)"/

export function openUpOutput({ isTerminal, write, holdsBack }: Options): UpOutput {
  const progress = openStartProgress({ isTerminal, write })
  const inWords = lineInWords(isTerminal)
  const held: string[] = []
  let isHolding = holdsBack
  const show = (line: string): void => progress.note(inWords(line))
  const release = (): readonly string[] => {
    isHolding = false
    return held.splice(0)
  }
  return {
    progress,
    log: {
      write: (line) => {
        if (isHolding) {
          held.push(line)
          if (held.length > mostHeld) held.shift()
        }
        if (!isHolding || shownAtOnce.test(line.slice(0, 30))) show(line)
      },
    },
    isUp: (dataFolder) => {
      progress[Symbol.dispose]()
      const lines = release()
      try {
        writeFileSync(join(dataFolder, 'start.log'), lines.join(''), { mode: 0o600 })
      } catch {
        // it is up all the same; a full disk is reported elsewhere
      }
    },
    isStopping: () => {
      isHolding = holdsBack
    },
    hasFailed: () => {
      progress[Symbol.dispose]()
      for (const line of release()) if (!shownAtOnce.test(line.slice(0, 30))) show(line)
    },
    [Symbol.dispose]: () => progress[Symbol.dispose](),
  }
}
