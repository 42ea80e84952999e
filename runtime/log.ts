import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
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
 * Lines are written before the call returns: what a process says as it dies is read.
 */
export function standardOutput(): DestinationStream {
  return process.stdout.isTTY
    ? pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' })
    : pino.destination({ dest: 1, sync: true })
}
