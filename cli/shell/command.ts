import type { ParseArgsConfig } from 'node:util'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import type { Environment, Flags, SettingsSource } from '../../runtime/settings.ts'
import { StoreMisconfigured, StoreUnavailable } from '../../store/store.ts'
import type { Change } from './operator-change.ts'

export type FlagOptions = NonNullable<ParseArgsConfig['options']>

/** Everything a command may know of the world outside. */
export type CommandContext = SettingsSource & {
  readonly env: Environment
  readonly flags: Flags
  /** The words after the command's name that are not flags. */
  readonly words: readonly string[]
  /** For a person or a pipe: data, one line per call. */
  readonly print: (line: string) => void
  /** Only for a person (stderr): progress and notes. */
  readonly note: (line: string) => void
  /** Both ends are a terminal: progress bars make sense. */
  readonly isTerminal: boolean
  /** It changes something: `withInstance` writes it into the operators' log. */
  readonly change?: Change | undefined
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stop: AbortSignal
}

export type Command = {
  /** One line for the list of commands. */
  readonly summary: string
  /** What `--help` prints below the summary: usage, flags, and examples that work. */
  readonly help: string
  /** For `parseArgs`; `--help` and the shared flags are added to them. */
  readonly options: FlagOptions
  /** Where the first word is a verb: which of `options` go with it. */
  readonly flagsOf?: Readonly<Record<string, readonly string[]>>
  /**
   * It works until it is stopped, and stops in order also when nothing reads its output any more.
   */
  readonly isLasting?: boolean
  /** @returns the exit code, 0 when done @throws MustAct, TryAgain, WrongUsage */
  readonly run: (context: CommandContext) => Promise<number>
}

/** The store knows nothing of exit codes: what it throws, as a command reports it. */
export function commandError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return new TryAgain(error.message, { cause: error })
  if (error instanceof StoreMisconfigured) return new MustAct(error.message, { cause: error })
  return error
}
