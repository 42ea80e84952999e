/** How far a long piece of work is, on one line that is written over and over. */
export type Progress = Disposable & {
  readonly at: (done: number, note?: string) => void
}

type ProgressOptions = {
  readonly label: string
  readonly total: number
  /** Without a terminal nothing is written. */
  readonly isTerminal: boolean
  readonly write?: (text: string) => void
  readonly nowMs?: () => number
}

/** Where nothing is drawn, a long piece of work says in lines how far it is. */
export const linesEveryMs = 10_000

const barWidth = 24
const redrawMs = 100
const clearLine = '\r\u001B[2K'

export function openProgress({
  label,
  total,
  isTerminal,
  write = (text) => void process.stderr.write(text),
  nowMs = () => performance.now(),
}: ProgressOptions): Progress {
  const startedMs = nowMs()
  let drawnMs = Number.NEGATIVE_INFINITY
  return {
    at(done, note = '') {
      const now = nowMs()
      if (!isTerminal || (now - drawnMs < redrawMs && done < total)) return
      drawnMs = now
      write(`${clearLine}${progressLine({ label, done, total, elapsedMs: now - startedMs, note })}`)
    },
    [Symbol.dispose]() {
      if (isTerminal && drawnMs >= startedMs) write(clearLine)
    },
  }
}

type Line = {
  readonly label: string
  readonly done: number
  readonly total: number
  readonly elapsedMs: number
  readonly note: string
}

export function progressLine({ label, done, total, elapsedMs, note }: Line): string {
  const share = total > 0 ? Math.min(1, done / total) : 1
  const filled = Math.round(share * barWidth)
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
  const rate = elapsedMs > 0 ? Math.round((done / elapsedMs) * 1_000) : 0
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${label} ${bar} ${percent} %  ${done}/${total}  ${rate}/s${note && `  ${note}`}`
}
