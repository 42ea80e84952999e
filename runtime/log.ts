import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { shownText } from '../core/shown-text.ts'
import type { LogLevel } from './config.ts'

export type { Logger } from 'pino'

/** Never in a log, whatever object they arrive in. */
const secrets = ['password', 'token', 'key', 'secret', 'authorization', 'cookie', 'natsCreds']

type LogOptions = {
  readonly name: string
  readonly level: LogLevel
  /** Where lines go; by default stdout, in colour and words where it is a terminal. */
  readonly to?: DestinationStream
}

/** JSON lines on stdout for machines; words on a terminal. Every line carries `name`. */
export function openLog({ name, level, to = standardOutput() }: LogOptions): Logger {
  return pino(
    {
      name,
      level,
      redact: { paths: secrets.flatMap((word) => [word, `*.${word}`]), censor: '(secret)' },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    to,
  )
}

/**
 * Lines are written before the call returns: what a process says as it dies is read. Names and texts
 * of others in them never reach a terminal as control characters.
 */
export function standardOutput(): DestinationStream {
  return process.stdout.isTTY
    ? shownIn(
        pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }),
        // it makes words of the values, so those are what has to be without
        (line) => `${JSON.stringify(shown(JSON.parse(line)))}\n`,
      )
    : shownIn(pino.destination({ dest: 1, sync: true }), shownText)
}

/** @param to also a stream, whose `write` may say something */
const shownIn = (
  to: { readonly write: (line: string) => unknown },
  change: (line: string) => string,
): DestinationStream => ({ write: (line) => void to.write(change(line)) })

function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [shownText(name), shown(each)]),
  )
}
