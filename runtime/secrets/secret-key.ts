import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { codeOf, MustAct, TryAgain } from '../exit.ts'
import { readSettings, type SettingsSource } from '../settings.ts'
import { freshLines } from '../fresh-lines.ts'
import { newSecretKey, otherKey, rotatingBox, type SecretBox, secretBox } from './seal-secret.ts'

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
  const system = await new Kvm(nc).open(buckets.system)
  const keys = keysOf(source, dataFolder)
  let agreed = await agreeOn(system, keys().map((key) => secretBox(key).fingerprint))
  const entries = await system.watch({ key: systemKeys.secretKey })
  // it ends with the connection
  void (async () => {
    for await (const entry of entries) agreed = fingerprintOf(entry) ?? agreed
  })().catch(() => undefined)
  return rotatingBox({ read: keys, sealsWith: () => agreed })
}

/** Where the key is, so that it can be rotated; undefined: it is in the variable itself. */
export function secretKeyFile(source: SettingsSource, dataFolder: string): string | undefined {
  const settings = readSettings(source)
  if (!settings.isSet('AIRPROOF_SECRET')) return fileIn(dataFolder)
  return settings.secretFile('AIRPROOF_SECRET')
}

/** Reads the file again whenever it is called and the file has changed. */
function keysOf(source: SettingsSource, dataFolder: string): () => readonly string[] {
  const given = readSettings(source).secret('AIRPROOF_SECRET')
  if (given === undefined) ensureOwnKey(dataFolder)
  const file = secretKeyFile(source, dataFolder)
  return file === undefined ? () => [given ?? ''] : freshLines(file)
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
function ensureOwnKey(dataFolder: string): void {
  const file = fileIn(dataFolder)
  try {
    writeFileSync(file, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

const fingerprintOf = (entry: KvEntry | null): string | undefined =>
  entry?.operation === 'PUT' ? entry.json<string>() : undefined

/** @param ours fingerprints of our keys: the first one is written if none is @returns the one that seals */
async function agreeOn(system: KV, ours: readonly string[]): Promise<string> {
  const read = async (): Promise<string | undefined> =>
    fingerprintOf(await system.get(systemKeys.secretKey))
  const written = await read()
  if (written !== undefined && ours.includes(written)) return written
  if (written === undefined) {
    const failed = await system.create(systemKeys.secretKey, JSON.stringify(ours[0])).then(
      () => undefined,
      (error: unknown) => error,
    )
    const settled = await read()
    if (settled !== undefined && ours.includes(settled)) return settled
    if (settled === undefined)
      throw new TryAgain(
        'the fingerprint of AIRPROOF_SECRET_FILE is not known yet, and this NATS user may not write it: run `airproof streams` once as the user operator, with the same AIRPROOF_SECRET_FILE',
        { cause: failed },
      )
  }
  throw new MustAct(otherKey)
}
