/**
 * What a person sees while everything starts: on a terminal one line that grows
 * (`NATS ✓ chain ✓ pipeline …`), in a pipe a line for each. Of the log only warnings are shown
 * until it is up; the rest is held for the log file of the start or, where the start fails, for the
 * person.
 */
import { secondMs } from '../../core/time.ts'

export type StartProgress = Disposable & {
  /** Waited for from now on. `why` returns the reason, where it is known. */
  readonly starts: (name: string, why?: () => string | undefined) => void
  readonly isUp: (name: string) => void
  /** A line of its own. */
  readonly note: (line: string) => void
}

type Options = {
  readonly isTerminal: boolean
  readonly write: (text: string) => void
  /** After this time the reason for waiting is shown, and again when it changes. */
  readonly sayAfterMs?: number
}

export function openStartProgress({
  isTerminal,
  write,
  sayAfterMs = 10 * secondMs,
}: Options): StartProgress {
  let line = ''
  let isOpen = false
  let waiting: { readonly name: string; readonly why: () => string | undefined } | undefined
  let timer: NodeJS.Timeout | undefined
  let lastSaid = ''

  const note = (text: string): void => {
    write(`${isOpen ? '\n' : ''}${text}\n`)
    isOpen = false
    if (isTerminal && line !== '') draw()
  }
  const draw = (): void => {
    write(line)
    isOpen = true
  }
  const grow = (text: string): void => {
    line += text
    if (!isTerminal) return
    write(isOpen ? text : line)
    isOpen = true
  }
  const sayWhy = (): void => {
    if (waiting === undefined) return
    const { name, why } = waiting
    const words = `waiting for ${name}: ${why() ?? 'it is not ready yet'}`
    if (words !== lastSaid) note(words)
    lastSaid = words
  }
  const rest = (): void => {
    clearInterval(timer)
    waiting = undefined
  }
  return {
    note,
    starts: (name, why = () => undefined) => {
      rest()
      waiting = { name, why }
      timer = setInterval(sayWhy, sayAfterMs)
      grow(`${line === '' ? 'starting  ' : ' '}${name} `)
    },
    isUp: (name) => {
      rest()
      grow('✓')
      if (!isTerminal) write(`${name} is up\n`)
    },
    [Symbol.dispose]: () => {
      rest()
      if (isOpen) write('\n')
      isOpen = false
      line = ''
    },
  }
}
