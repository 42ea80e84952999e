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
      serializers: { err: errorForLog },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    to,
  )
}

/** Where a server is away its words say all there is; a stack of ours would only hide them. */
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
 * Lines are written before the call returns: what a process says as it dies is read. Names and texts
 * of others in them never reach a terminal as control characters.
 */
export function standardOutput(): DestinationStream {
  return process.stdout.isTTY
    ? shownIn(
        pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }),
        (line) => `${withoutControls(line)}\n`,
      )
    : shownIn(pino.destination({ dest: 1, sync: true }), shownText)
}

/** @param to also a stream, whose `write` may say something */
const shownIn = (
  to: { readonly write: (line: string) => unknown },
  change: (line: string) => string,
): DestinationStream => ({ write: (line) => void to.write(change(line)) })

/** pino-pretty makes words of the values, so those are what has to be without. */
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

/** A JSON line as one line in words. */
export const lineInWords = (colorize: boolean): ((line: string) => string) => {
  const format = prettyFactory({
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
    singleLine: true,
    colorize,
  })
  return (line) => format(withoutControls(line)).trimEnd()
}
