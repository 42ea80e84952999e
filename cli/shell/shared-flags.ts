import type { Environment, Flags } from '../../runtime/settings.ts'
import { flagOf } from '../../runtime/settings.ts'
import type { FlagOptions } from './command.ts'

/** Settings that every command takes as a flag too. No secrets: others can see a command line. */
const sharedSettings = [
  'AIRPROOF_DATA',
  'AIRPROOF_EARLIEST',
  'AIRPROOF_ID_PREFIX',
  'AIRPROOF_LOG',
  'AIRPROOF_ADMIN_HOST',
  'AIRPROOF_ADMIN_PORT',
  'NATS_URL',
  'NATS_CREDS',
  'INFLUX_URL',
  'INFLUX_TOKEN_FILE',
  'INFLUX_ORG',
  'INFLUX_BUCKET',
]

export const sharedFlags: FlagOptions = {
  help: { type: 'boolean', short: 'h' },
  ...Object.fromEntries(sharedSettings.map((name) => [flagOf(name), { type: 'string' }] as const)),
}

/** Of the commands that begin to use a store. */
export const storeFlags: FlagOptions = { 'store-changed': { type: 'boolean' } }

/** The environment for a child process: what was set by flag is passed on by variable. */
export function withFlags(env: Environment, flags: Flags): Environment {
  const settings = sharedSettings.flatMap((name) => {
    const value = flags[flagOf(name)]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return { ...env, ...Object.fromEntries(settings) }
}

export const sharedHelp = `\
Every command takes --data DIR (default .airproof) and --nats-url URL (default: the instance that
runs on that folder). The same settings as variables: AIRPROOF_DATA, NATS_URL; .env is read.
Examples are of Lagos, where ids begin with NGR-LOS; yours begin with AIRPROOF_ID_PREFIX.`
