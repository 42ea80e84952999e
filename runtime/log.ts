import { type DestinationStream, type Logger, pino } from 'pino'
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
  /** The destination of the lines; by default stdout, as JSON. */
  readonly to?: DestinationStream
}

/** Every line carries `name`. */
export function openLog({ name, level, to = jsonOutput() }: LogOptions): Logger {
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
 * Of a process: coloured text on a terminal, whose formatter is loaded only for one, and JSON for machines.
 * Lines are written before the call returns, so the last line of a dying process is not lost.
 */
export const standardOutput = async (): Promise<DestinationStream> =>
  process.stdout.isTTY ? (await import('./terminal-log.ts')).terminalOutput() : jsonOutput()

/** Names and texts from outside never reach a terminal as control characters. */
function jsonOutput(): DestinationStream {
  const to = pino.destination({ dest: 1, sync: true })
  return { write: (line) => void to.write(shownText(line)) }
}
