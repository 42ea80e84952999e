import { NewerFormat } from '../schemas/formats.ts'

/**
 * Exit codes that a supervisor may rely on: 0 the process did its work, 1 a person must act, 2 it
 * was called wrongly, 75 the same call may succeed later.
 */
export const exitCodes = { done: 0, mustAct: 1, wrongUsage: 2, tryAgain: 75 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A retry cannot help. The message says what is wrong and what a person should do. */
export class MustAct extends Error {
  override readonly name = 'MustAct'
}

/** A dependency is unavailable for now. The message says which, and that waiting may help. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain'
}

/** What the process works with has changed, as was planned: it ends, and begins again with that. No fault. */
export class StartAgain extends TryAgain {}

/** The command line or the environment is invalid. The message names the part. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

/** The exit code after an unhandled error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof TryAgain) return exitCodes.tryAgain
  if (error instanceof WrongUsage) return exitCodes.wrongUsage
  return exitCodes.mustAct
}

/** An error in one line for a person: our own errors in their own words, others with their name. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = codeOf(error)
  if (code === 'ENOSPC') return `the disk is full: make room and start again (${error.message})`
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return `not allowed to use: ${error.message}`
  if (code === 'ENOTDIR' || (code === 'EEXIST' && Reflect.get(error, 'syscall') === 'mkdir'))
    return `a file is where a folder is needed: move it away, or choose another folder (${error.message})`
  const foreseen =
    error instanceof NewerFormat ||
    error instanceof MustAct ||
    error instanceof TryAgain ||
    error instanceof WrongUsage
  return foreseen ? error.message : `${error.name}: ${error.message}`
}

/** Of a file, of SQLite, or in the words of a server. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'ENOSPC' || /disk is full|no space left/i.test(String(error))

/** The system's name of an error, for example `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
