import { logBroken } from '../broken.ts'
import { exitCodeOf, exitCodes, inWords, StartAgain } from '../exit.ts'
import { type Logger, openLog, standardOutput } from '../log.ts'
import type { NatsSettings } from '../nats/nats.ts'
import { orTryAgain } from '../server-away.ts'
import { type Environment, type Flags, readSettings, type SettingsSource } from '../settings.ts'
import type { Door } from './admin.ts'
import { readSharedConfig, type SharedConfig } from './config.ts'
import { readIdPrefix } from './network-settings.ts'
import { openProcessDoor } from './process-door.ts'
import { watchStrayErrors } from './stray-error.ts'

/** The door is already open; `openAdmin` and `connectNats` take what they need from here. */
type ProcessConfig = SharedConfig &
  Pick<NatsSettings, 'onTrouble'> & {
    readonly admin: { readonly door?: Door }
    /** Ends the process with this error, whatever its main is doing. */
    readonly onFatal?: (error: unknown) => void
  }

/** The input of each of our processes, which reads and opens none of it itself. */
export type ProcessContext = {
  readonly config: ProcessConfig
  /** For the process's own `config.ts`, which reads its other settings from these two. */
  readonly env: Environment
  readonly flags: Flags
  readonly log: Logger
  /** Aborted when the process should stop; it then has 10 s. */
  readonly stop: AbortSignal
}

/**
 * One process: opens what it needs, works until `stop`, closes it again and resolves.
 * @throws MustAct, TryAgain, WrongUsage (`exit.ts`); anything else counts as MustAct
 */
export type ProcessMain = (context: ProcessContext) => Promise<void>

/** The same process, which ends with `TryAgain` if NATS did not respond. */
export const tryAgainIfAway =
  (main: ProcessMain): ProcessMain =>
  async (context) => {
    try {
      await main(context)
    } catch (error) {
      throw orTryAgain(error)
    }
  }

type Run = {
  readonly name: string
  readonly main: ProcessMain
  readonly source: SettingsSource
  readonly stop: AbortSignal
}

/** Runs a process to its end. @returns its exit code; an error is logged for people */
export async function runProcess({ name, main, source, stop }: Run): Promise<number> {
  const config = readSharedConfig(source)
  const log = openLog({ name, level: config.logLevel, to: await standardOutput() })
  using strays = watchStrayErrors()
  logBroken(log)
  try {
    await using door = await openProcessDoor({ name, config, log, stop })
    await using _traces = await openTraces(source, { name, log })
    const { waitsFor: onTrouble } = door
    const fatal = Promise.withResolvers<never>()
    fatal.promise.catch(() => undefined)
    const { reject: onFatal } = fatal
    const withDoor = { ...config, admin: { ...config.admin, door }, onTrouble, onFatal }
    const ended = main({ config: withDoor, ...source, log, stop })
    await Promise.race([ended, strays.first, fatal.promise])
    log.info(stop.aborted ? { on: stop.reason } : {}, 'stopped')
    return exitCodes.done
  } catch (error) {
    if (stop.aborted && error === stop.reason) {
      log.info({ on: stop.reason }, 'stopped before it was ready')
      return exitCodes.done
    }
    if (error instanceof StartAgain) log.info(`${error.message}; it starts again with that`)
    else log.fatal({ err: error }, inWords(error))
    return exitCodeOf(error)
  }
}

/** Loads OpenTelemetry only where a collector is set: otherwise no process pays for it. */
export async function openTraces(
  source: SettingsSource,
  { name, log }: { readonly name: string; readonly log: Logger },
): Promise<AsyncDisposable | undefined> {
  const endpoint = readSettings(source).url('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (endpoint === undefined) return undefined
  const { openOtel } = await import('../otel.ts')
  return openOtel({ endpoint, name, idPrefix: readIdPrefix(source), log })
}
