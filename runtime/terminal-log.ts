/** The lines of a log as text for people. Names and texts from outside have no control characters in them. */

import type { DestinationStream } from 'pino'
import pretty, { prettyFactory } from 'pino-pretty'
import { shownText } from '../core/shown-text.ts'

const format = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }

/** On stdout; written before the call returns. */
export function terminalOutput(): DestinationStream {
  const to = pretty({ sync: true, ...format })
  return { write: (line) => void to.write(`${withoutControls(line)}\n`) }
}

/** A JSON line as one line of text. */
export const lineInWords = (colorize: boolean): ((line: string) => string) => {
  const inWords = prettyFactory({ ...format, singleLine: true, colorize })
  return (line) => inWords(withoutControls(line)).trimEnd()
}

/** pino-pretty prints the values, so control characters are replaced in them. */
function withoutControls(line: string): string {
  try {
    return JSON.stringify(shown(JSON.parse(line)))
  } catch {
    // a line of a server or of Node itself
    return shownText(line)
  }
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [shownText(name), shown(each)]),
  )
}
