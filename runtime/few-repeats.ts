/**
 * A line that comes again and again while something is away: it is shown once, then once a minute how
 * often it has come and for how long, and once more when it no longer comes.
 */
import { minuteMs, secondMs } from '../core/time.ts'

export type FewRepeats = {
  /** @returns whether it is to be shown; otherwise it is counted */
  readonly isFirst: (line: string) => boolean
  /** What it was about is over. Without it, a line that came again is reported as over after a minute in which it does not come. */
  readonly isOver: (line: string) => void
}

type Options = {
  readonly say: (words: string) => void
  readonly everyMs?: number
}

type Kind = {
  readonly sinceMs: number
  readonly timer: NodeJS.Timeout
  times: number
  timesReported: number
}

/** How many different lines are counted; beyond it the oldest begins again. */
const mostKinds = 200

export function fewRepeats({ say, everyMs = minuteMs }: Options): FewRepeats {
  const kinds = new Map<string, Kind>()
  const forget = (line: string): Kind | undefined => {
    const kind = kinds.get(line)
    clearInterval(kind?.timer)
    kinds.delete(line)
    return kind
  }
  const isOver = (line: string): void => {
    const kind = forget(line)
    if (kind !== undefined) say(`no longer, after ${timesInWords(kind)}: ${line}`)
  }
  const report = (line: string): void => {
    const kind = kinds.get(line)
    if (kind === undefined) return
    if (kind.times === 1) forget(line)
    else if (kind.times === kind.timesReported) isOver(line)
    else {
      kind.timesReported = kind.times
      say(`still, ${timesInWords(kind)}: ${line}`)
    }
  }
  return {
    isOver,
    isFirst: (line) => {
      const kind = kinds.get(line)
      if (kind !== undefined) {
        kind.times++
        return false
      }
      const [oldest] = kinds.keys()
      if (kinds.size === mostKinds && oldest !== undefined) forget(oldest)
      const timer = setInterval(report, everyMs, line)
      timer.unref()
      kinds.set(line, { sinceMs: performance.now(), timer, times: 1, timesReported: 1 })
      return true
    },
  }
}

function timesInWords({ sinceMs, times }: Kind): string {
  const forMs = performance.now() - sinceMs
  const long =
    forMs < 2 * minuteMs
      ? `${Math.round(forMs / secondMs)} s`
      : `${Math.round(forMs / minuteMs)} min`
  return times === 1 ? long : `${times} times in ${long}`
}
