import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { codeOf, MustAct } from '../exit.ts'
import { newSecretKey, type SecretBox, secretBox } from './seal-secret.ts'
import { readSettings, type SettingsSource } from '../settings.ts'

/**
 * The box that seals webhook secrets: AIRPROOF_SECRET_FILE names its key; where nothing is said it
 * lies in the data folder and is made when first needed. Processes on several machines must be
 * given the same key: the first one to come writes its fingerprint into KV, another key is refused.
 * @throws MustAct where the data were sealed with another key
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

/** Two processes may come at once: whoever makes the file first decides. */
function ownKey(dataFolder: string): string {
  const file = join(dataFolder, 'secret-key')
  try {
    writeFileSync(file, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}

async function agreeOn(system: KV, fingerprint: string): Promise<void> {
  const text = JSON.stringify(fingerprint)
  const found = (await system.get(systemKeys.secretKey))?.string()
  if (found === text) return
  if (found === undefined) {
    await system.create(systemKeys.secretKey, text).catch(() => undefined)
    if ((await system.get(systemKeys.secretKey))?.string() === text) return
  }
  throw new MustAct(
    'webhook secrets were sealed with another key: give every process the same AIRPROOF_SECRET_FILE',
  )
}
