import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { codeOf, MustAct, TryAgain } from '../exit.ts'
import { newSecretKey, type SecretBox, secretBox } from './seal-secret.ts'
import { readSettings, type SettingsSource } from '../settings.ts'

/**
 * The box that seals webhook secrets. AIRPROOF_SECRET_FILE names its key; by default it is in the
 * data folder, made when first needed. Processes on several machines must have the same key: its
 * fingerprint is in KV, and another key is refused. Only the operator's user may write it (`airproof
 * up`, `airproof streams`), on an open server the first process: a process that could change it could
 * keep the others from starting.
 * @throws MustAct if the data were sealed with another key
 * @throws TryAgain if there is no fingerprint yet, and this user may not write it
 */
export async function openSecretBox(
  nc: NatsConnection,
  source: SettingsSource,
  dataFolder: string,
): Promise<SecretBox> {
  const box = secretBox(readSettings(source).secret('AIRPROOF_SECRET') ?? ownKey(dataFolder))
  await agreeOn(await new Kvm(nc).open(buckets.system), box.fingerprint)
  return box
}

/** Writes the fingerprint of the key, if this machine has one. @throws MustAct */
export async function writeKeyFingerprint(
  nc: NatsConnection,
  source: SettingsSource,
  dataFolder: string,
): Promise<void> {
  const isHere =
    readSettings(source).secret('AIRPROOF_SECRET') !== undefined || existsSync(fileIn(dataFolder))
  if (isHere) await openSecretBox(nc, source, dataFolder)
}

const fileIn = (dataFolder: string): string => join(dataFolder, 'secret-key')

/** Two processes may start at once: the first one to make the file decides. */
function ownKey(dataFolder: string): string {
  const file = fileIn(dataFolder)
  try {
    writeFileSync(file, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}

async function agreeOn(system: KV, fingerprint: string): Promise<void> {
  const text = JSON.stringify(fingerprint)
  const read = async (): Promise<string | undefined> => {
    const entry = await system.get(systemKeys.secretKey)
    return entry?.operation === 'PUT' ? entry.string() : undefined
  }
  const written = await read()
  if (written === text) return
  if (written === undefined) {
    const failed = await system.create(systemKeys.secretKey, text).then(
      () => undefined,
      (error: unknown) => error,
    )
    const settled = await read()
    if (settled === text) return
    if (settled === undefined)
      throw new TryAgain(
        'the fingerprint of AIRPROOF_SECRET_FILE is not known yet, and this NATS user may not write it: run `airproof streams` once as the user operator, with the same AIRPROOF_SECRET_FILE',
        { cause: failed },
      )
  }
  throw new MustAct(
    'webhook secrets were sealed with another key: give every process the same AIRPROOF_SECRET_FILE',
  )
}
