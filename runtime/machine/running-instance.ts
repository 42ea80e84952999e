/**
 * `ready.json` in the data folder: written when everything is ready, removed when it stops. Scripts
 * wait for it, and every command finds the running instance through it.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asVersion1 } from '../../schemas/formats.ts'
import { codeOf } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'
import type { StorePlace } from './store-place.ts'

export type RunningInstance = {
  /** Of airproof. */
  readonly version?: string
  readonly api: string
  readonly dashboard?: string
  readonly nats: string
  /** The user with which the command line signs in to our own NATS. */
  readonly nats_operator?: {
    readonly user: string
    readonly password: string
    readonly file?: string
  }
  /** File of its certificate, if it uses TLS. */
  readonly nats_pin?: string
  /** Where MQTT devices sign in. */
  readonly mqtt?: string
  /** Where firmware posts readings over HTTP. */
  readonly push?: string
  /** Where readings are stored. */
  readonly store?: StorePlace
  /** A node of the chain, and the contract there; absent: nothing is anchored. */
  readonly rpc?: string
  readonly contract?: string
  readonly key: string
  readonly account: { readonly email: string; readonly password: string }
  readonly pids: Readonly<Record<string, number>>
  /** The URL of each process's admin port. */
  readonly admin?: Readonly<Record<string, string>>
  /** Processes that keep exiting, and why, while the rest continues without them. */
  readonly degraded?: Readonly<Record<string, string>>
}

const fileIn = (dataFolder: string): string => join(dataFolder, 'ready.json')

/** What runs on this data folder, or undefined if nothing does. @throws NewerFormat */
export function readRunningInstance(dataFolder: string): RunningInstance | undefined {
  try {
    const written = asVersion1('ready', JSON.parse(readFileSync(fileIn(dataFolder), 'utf8')))
    return isRunningInstance(written) ? written : undefined
  } catch (error) {
    // an incomplete file is impossible, as it is written aside and renamed: if it is not JSON,
    // it is not ours
    const isAbsent = ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')
    if (isAbsent || error instanceof SyntaxError) return undefined
    throw error
  }
}

export function writeRunningInstance(dataFolder: string, instance: RunningInstance): void {
  writePrivateFile(fileIn(dataFolder), `${JSON.stringify(instance, null, 2)}\n`)
}

export function forgetRunningInstance(dataFolder: string): void {
  rmSync(fileIn(dataFolder), { force: true })
}

const isRunningInstance = (value: unknown): value is RunningInstance =>
  typeof value === 'object' &&
  value !== null &&
  'nats' in value &&
  typeof value.nats === 'string' &&
  'api' in value &&
  typeof value.api === 'string'
