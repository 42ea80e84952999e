/** Sensors' credentials at the command line: shown once, or written to a file for many. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { issueCredential, revokeCredential } from '../../operate/sensor-credentials.ts'
import { needSensor } from '../../operate/sensor-registry.ts'
import { defaultOverlapMs } from '../../operate/sensor-signing.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { parseCredential } from '../../schemas/devices/credential.ts'
import type { Device } from '../../schemas/devices/sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { CommandContext } from '../shell/command.ts'
import { durationFlag } from '../shell/words.ts'
import { openForOne } from './one-sensor.ts'
import { longestOverlapMs } from './signing.ts'

/** Writes under way at once. */
const window = 200

/** `sensors key ID [--overlap 24h | --revoke]` */
export async function keyOf(
  nc: NatsConnection,
  config: SharedConfig,
  { flags, words, print }: CommandContext,
): Promise<number> {
  const { registry, id } = await openForOne(nc, config, words)
  const entry = await needSensor(registry, id)
  const credentials = await new Kvm(nc).open(buckets.credentials)
  const asJson = flags['json'] === true
  const chosenMs = durationFlag(flags, 'overlap')
  if (flags['revoke'] === true) {
    if (chosenMs !== undefined)
      throw new WrongUsage('--revoke ends the credential at once: leave --overlap out')
    await revokeCredential(credentials, id, Date.now())
    print(asJson ? JSON.stringify({ id, revoked: true }) : `${id} no longer has a credential`)
    return exitCodes.done
  }
  const overlapMs = chosenMs ?? defaultOverlapMs
  if (overlapMs > longestOverlapMs) throw new WrongUsage('--overlap is 90d at most')
  const key = await issueCredential(credentials, id, { nowMs: Date.now(), overlapMs })
  if (asJson) print(JSON.stringify({ id, key }))
  else for (const line of keyLines(id, key, entry.device)) print(line)
  return exitCodes.done
}

export function keyLines(id: string, key: string, device: Device | undefined): readonly string[] {
  const named = device?.options?.['client_id']
  const clientId = named ?? `${id}, the same as the user`
  return [
    `user      ${id}`,
    `password  ${key}`,
    'It is shown only once: put it into the device now.',
    `If the device speaks MQTT, its client id must be ${clientId}.`,
  ]
}

/**
 * Gives a credential to each sensor without one.
 * @returns the file of them; undefined: all had one
 */
export async function giveKeys(
  nc: NatsConnection,
  ids: readonly string[],
  file: string,
): Promise<string | undefined> {
  const lacking = await withoutKey(nc, ids)
  if (lacking.length === 0) return undefined
  const credentials = await new Kvm(nc).open(buckets.credentials)
  const keys = new Map<string, string>()
  await inParallel(lacking, window, async (id) => {
    keys.set(id, await issueCredential(credentials, id, { nowMs: Date.now() }))
  })
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writePrivateFile(file, `id,key\n${lacking.map((id) => `${id},${keys.get(id) ?? ''}\n`).join('')}`)
  return file
}

async function withoutKey(nc: NatsConnection, ids: readonly string[]): Promise<readonly string[]> {
  await using known = await watchBucket(nc, buckets.credentials, parseCredential)
  return [...new Set(ids)].filter((id) => known.get(id) === undefined)
}

/** A new name for each import: an earlier file may hold the only copy of its credentials. */
export const keysFileIn = (dataFolder: string, nowMs: number): string =>
  join(
    dataFolder,
    'sensor-keys',
    `${new Date(nowMs).toISOString().replaceAll(':', '').slice(0, 17)}.csv`,
  )
