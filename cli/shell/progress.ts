/**
 * How far a long piece of work is: on a terminal one line that is written over and over, elsewhere a line every
 * ten seconds if the caller passes `note`.
 */
export type Progress = Disposable & {
  readonly at: (done: number, note?: string) => void
}

type ProgressOptions = {
  readonly label: string
  readonly total: number
  readonly isTerminal: boolean
  readonly note?: (line: string) => void
  readonly write?: (text: string) => void
  readonly nowMs?: () => number
}

const barWidth = 24
const redrawMs = 100
const notedEveryMs = 10_000
const clearLine = '\r\u001B[2K'

export function openProgress({
  label,
  total,
  isTerminal,
  note: noted,
  write = (text) => void process.stderr.write(text),
  nowMs = () => performance.now(),
}: ProgressOptions): Progress {
  const startedMs = nowMs()
  let drawnMs = Number.NEGATIVE_INFINITY
  let notedMs = startedMs
  return {
    at(done, note = '') {
      const now = nowMs()
      if (!isTerminal && noted !== undefined && now - notedMs >= notedEveryMs) {
        notedMs = now
        noted(`${label}: ${percentOf(done, total)} %${note && `, ${note}`}`)
      }
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
  const share = shareOf(done, total)
  const filled = Math.round(share * barWidth)
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
  const rate = elapsedMs > 0 ? Math.round((done / elapsedMs) * 1_000) : 0
  const percent = String(percentOf(done, total)).padStart(3)
  return `${label} ${bar} ${percent} %  ${done}/${total}  ${rate}/s${note && `  ${note}`}`
}

const shareOf = (done: number, total: number): number => (total > 0 ? Math.min(1, done / total) : 1)
const percentOf = (done: number, total: number): number => Math.floor(shareOf(done, total) * 100)
