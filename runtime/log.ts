import { type DestinationStream, type Logger, pino } from 'pino'
import pretty, { prettyFactory } from 'pino-pretty'
import { shownText } from '../core/shown-text.ts'
import { codeOf } from './exit.ts'
import { isServerAway } from './server-away.ts'

export type { DestinationStream, Logger } from 'pino'

/** Never in a log, whatever object they arrive in. */
const secrets = ['password', 'token', 'key', 'secret', 'authorization', 'cookie', 'natsCreds']

type LogOptions = {
  readonly name: string
  /** A `LogLevel`. */
  readonly level: string
  /** The destination of the lines; by default stdout, as coloured text on a terminal. */
  readonly to?: DestinationStream
}

/** JSON lines on stdout for machines; text on a terminal. Every line carries `name`. */
export function openLog({ name, level, to = standardOutput() }: LogOptions): Logger {
  return pino(
    {
      name,
      level,
      redact: { paths: secrets.flatMap((word) => [word, `*.${word}`]), censor: '(secret)' },
      serializers: { err: errorForLog },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    to,
  )
}

/** If a server is unavailable, its message is enough; our stack trace would only hide it. */
const errorForLog = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  return isForeseen(error) ? `${error.name}: ${error.message}` : pino.stdSerializers.err(error)
}

const isForeseen = (error: Error): boolean =>
  isServerAway(error) ||
  ['MustAct', 'TryAgain', 'WrongUsage', 'StoreUnavailable', 'StoreMisconfigured'].includes(
    error.name,
  ) ||
  ['ECONNREFUSED', 'ECONNRESET', 'ENOSPC', 'ETIMEDOUT'].includes(codeOf(error) ?? '')

/**
 * Lines are written before the call returns, so the last line of a dying process is not lost. Names
 * and texts from outside never reach a terminal as control characters.
 */
export function standardOutput(): DestinationStream {
  return process.stdout.isTTY
    ? shownIn(
        pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }),
        (line) => `${withoutControls(line)}\n`,
      )
    : shownIn(pino.destination({ dest: 1, sync: true }), shownText)
}

/** @param to also a stream, whose `write` may return a value */
const shownIn = (
  to: { readonly write: (line: string) => unknown },
  change: (line: string) => string,
): DestinationStream => ({ write: (line) => void to.write(change(line)) })

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

/** A JSON line as one line of text. */
export const lineInWords = (colorize: boolean): ((line: string) => string) => {
  const format = prettyFactory({
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
    singleLine: true,
    colorize,
  })
  return (line) => format(withoutControls(line)).trimEnd()
}
