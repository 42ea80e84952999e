import { WrongUsage } from '../runtime/exit.ts'
import { freshLines } from '../runtime/fresh-lines.ts'
import type { NatsLogin } from '../runtime/nats/nats-trouble.ts'
import { readLogin } from '../runtime/process/config.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'

export type GateConfig = {
  /** Undefined: this NATS lets sensors in without us. */
  readonly callout: CalloutConfig | undefined
  /** Where existing firmware posts its readings over HTTP. */
  readonly push: {
    readonly host: string
    /** 0: any free port. */
    readonly port: number
    /** For readings of firmware that stores nothing itself, while NATS is away. */
    readonly spoolMaxBytes: number
  }
}

export type CalloutConfig = {
  /** Seeds of the account key that the servers' configuration names as issuer: two while it is rotated. */
  readonly seeds: () => readonly string[]
  /** In the account where sign-ins are judged. */
  readonly login: NatsLogin
  /** In the system account: lists connections and closes them. */
  readonly system: NatsLogin
}

const mebibyte = 1024 * 1024
/** `airproof up` chooses one itself. */
const usualPort = 8082

/** @throws WrongUsage that names the variable */
export function readGateConfig(source: SettingsSource): GateConfig {
  const settings = readSettings(source)
  return {
    callout: readCallout(source),
    push: {
      host: settings.text('AIRPROOF_PUSH_HOST'),
      port: settings.port('AIRPROOF_PUSH_PORT') ?? usualPort,
      spoolMaxBytes: settings.int('AIRPROOF_PUSH_SPOOL_MB') * mebibyte,
    },
  }
}

function readCallout(source: SettingsSource): CalloutConfig | undefined {
  const seed = readSettings(source).secret('AIRPROOF_CALLOUT_SEED')
  const login = readLogin(source, 'NATS_CALLOUT')
  const system = readLogin(source, 'NATS_SYSTEM')
  if (seed === undefined && login === undefined && system === undefined) return undefined
  if (seed !== undefined && login !== undefined && system !== undefined) {
    const file = readSettings(source).secretFile('AIRPROOF_CALLOUT_SEED')
    const known = [seed]
    return { seeds: file === undefined ? () => known : freshLines(file, known), login, system }
  }
  throw new WrongUsage(
    'to let sensors in, the gate needs all of AIRPROOF_CALLOUT_SEED, NATS_CALLOUT_USER and NATS_SYSTEM_USER (each password and the seed also as …_FILE): `airproof access` makes them',
  )
}
