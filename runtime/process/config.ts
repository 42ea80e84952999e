import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { codeOf, WrongUsage } from '../exit.ts'
import { freshSecret } from '../fresh-lines.ts'
import { readRunningInstance } from '../machine/running-instance.ts'
import { type StoreSettings, sqliteFileIn } from '../machine/store-place.ts'
import type { NatsLogin } from '../nats/nats-trouble.ts'
import { type Environment, readSettings, type SettingsSource } from '../settings.ts'
import { settingRows, type settingsTable } from '../settings-table.ts'
import { readIdPrefix } from './network-settings.ts'

export type LogLevel = (typeof settingsTable)['AIRPROOF_LOG']['choices'][number]

/** The configuration of every process and command, read once. */
export type SharedConfig = {
  /** The folder of this machine's data, as an absolute path. */
  readonly dataFolder: string
  /** One address or several, separated by commas; undefined if none is set and nothing runs here. */
  readonly natsUrl: string | undefined
  /** A NATS credentials file. */
  readonly natsCreds: string | undefined
  /** The NATS user to sign in as; undefined: without a user. */
  readonly natsLogin?: NatsLogin | undefined
  /** The NATS server's own certificate: no other is trusted. */
  readonly natsPinFile?: string | undefined
  /** Of each new stream and bucket: 1, or 3 in a cluster that survives the loss of a server. */
  readonly replicas: number
  readonly store: StoreSettings
  /** Readings may be stored in another store than at the last start: history stays in the old one. */
  readonly storeChanged?: boolean
  /** The prefix of every sensor id, `NGR-LOS` for Lagos. */
  readonly idPrefix: string
  /** Earlier readings are refused: ms since the epoch, UTC. */
  readonly earliestMs: number
  readonly admin: { readonly host: string /** 0: any free one. */; readonly port: number }
  readonly logLevel: LogLevel
}

/**
 * The variables of `.env` in the working folder, overridden by the process's environment; credentials of
 * systemd (`LoadCredential=NATS_PASSWORD:/etc/airproof/pipeline-password`) where neither has the setting.
 */
export function environment(envFile = '.env'): Environment {
  const env = { ...readEnvFile(envFile), ...process.env }
  return { ...credentialFiles(env), ...env }
}

/** `NAME_FILE` for each file NAME in the folder that systemd gives to the service. */
export function credentialFiles(env: Environment): Environment {
  const folder = env['CREDENTIALS_DIRECTORY']
  if (folder === undefined) return {}
  const files = settingRows.flatMap(([setting, { is }]) => {
    const name = is === 'secret' ? setting : setting.replace(/_FILE$/, '')
    const file = join(folder, name)
    const isHere = (is === 'secret' || name !== setting) && existsSync(file)
    return isHere && env[name] === undefined ? [[`${name}_FILE`, file]] : []
  })
  return Object.fromEntries(files)
}

/** @throws WrongUsage that names the variable */
export function readSharedConfig(source: SettingsSource): SharedConfig {
  const settings = readSettings(source)
  const dataFolder = dataFolderOf(source)
  return Object.freeze({
    dataFolder,
    ...readNatsSettings(source, dataFolder),
    natsCreds: settings.text('NATS_CREDS'),
    replicas: settings.int('AIRPROOF_REPLICAS'),
    store: readStoreSettings(source, dataFolder),
    storeChanged: settings.yes('AIRPROOF_STORE_CHANGED'),
    idPrefix: readIdPrefix(source),
    earliestMs: settings.timeMs('AIRPROOF_EARLIEST'),
    admin: {
      host: settings.text('AIRPROOF_ADMIN_HOST'),
      port: settings.port('AIRPROOF_ADMIN_PORT') ?? 0,
    },
    logLevel: settings.choice('AIRPROOF_LOG'),
  })
}

export const dataFolderOf = (source: SettingsSource): string =>
  resolve(readSettings(source).text('AIRPROOF_DATA'))

/** The settings, or else the instance that runs on the folder, with its operator's login. */
function readNatsSettings(
  source: SettingsSource,
  dataFolder: string,
): Pick<SharedConfig, 'natsUrl' | 'natsLogin' | 'natsPinFile'> {
  const settings = readSettings(source)
  const natsUrl = settings.url('NATS_URL')
  const natsLogin = readLogin(source, 'NATS')
  const natsPinFile = settings.text('NATS_PIN_FILE')
  if (natsUrl !== undefined) return { natsUrl, natsLogin, natsPinFile }
  const running = readRunningInstance(dataFolder)
  return {
    natsUrl: running?.nats,
    natsLogin: natsLogin ?? running?.nats_operator,
    natsPinFile: natsPinFile ?? running?.nats_pin,
  }
}

/** `<prefix>_USER` and `<prefix>_PASSWORD` or `<prefix>_PASSWORD_FILE`. @throws WrongUsage if only one is set */
export function readLogin(
  source: SettingsSource,
  prefix: 'NATS' | 'NATS_CALLOUT' | 'NATS_SYSTEM',
): NatsLogin | undefined {
  const settings = readSettings(source)
  const user = settings.text(`${prefix}_USER`)
  const password = settings.secret(`${prefix}_PASSWORD`)
  if (user === undefined && password === undefined) return undefined
  const file = settings.secretFile(`${prefix}_PASSWORD`)
  if (user !== undefined && password !== undefined)
    return { user, password, ...(file === undefined ? {} : { file }) }
  throw new WrongUsage(
    user === undefined
      ? `${prefix}_PASSWORD is set, so ${prefix}_USER is needed too`
      : `${prefix}_USER is set, so ${prefix}_PASSWORD or ${prefix}_PASSWORD_FILE is needed too`,
  )
}

export function readStoreSettings(source: SettingsSource, dataFolder: string): StoreSettings {
  const settings = readSettings(source)
  const url = settings.url('INFLUX_URL')
  if (url === undefined) return { kind: 'sqlite', file: sqliteFileIn(dataFolder) }
  const token = settings.secret('INFLUX_TOKEN')
  if (token === undefined)
    throw new WrongUsage('INFLUX_URL is set, so INFLUX_TOKEN or INFLUX_TOKEN_FILE is needed too')
  const org = settings.text('INFLUX_ORG')
  const bucket = settings.text('INFLUX_BUCKET')
  const file = settings.secretFile('INFLUX_TOKEN')
  const fresh = file === undefined ? {} : { tokenNow: freshSecret(file, token) }
  return { kind: 'influx', url, token, ...fresh, org, bucket }
}

function readEnvFile(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw error
  }
}
