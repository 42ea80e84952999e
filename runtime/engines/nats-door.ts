/** Files next to the configuration of our own nats-server, so that sensors can sign in. */
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MustAct } from '../exit.ts'
import type { NatsDoor } from './nats-config.ts'
import { type UsersFile, usersConf } from './nats-users.ts'

export type DoorSettings = {
  readonly users: UsersFile
  readonly mqttPort: number
  /** The operator's files; the server reads copies of them. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined
  readonly maxConnections?: number
}

const usersFile = 'users.conf'
export const certCopy = 'tls-cert.pem'
const keyCopy = 'tls-key.pem'

/** @param folder of the server  @param seenAs its path for the server, which may be in a container */
export function writeDoor(
  { users, mqttPort, tls, maxConnections }: DoorSettings,
  folder: string,
  seenAs: string,
): NatsDoor {
  writeFileSync(join(folder, usersFile), usersConf(users), { mode: 0o600 })
  if (tls) copyCertificate(tls, folder)
  return {
    usersFile,
    mqttPort,
    ...(tls && {
      tls: { certFile: join(seenAs, certCopy), keyFile: join(seenAs, keyCopy) },
    }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
  }
}

/** @throws MustAct if one of the files cannot be read */
export function copyCertificate(
  { certFile, keyFile }: NonNullable<DoorSettings['tls']>,
  folder: string,
): void {
  const copy = (from: string, to: string, setting: string): void => {
    try {
      copyFileSync(from, join(folder, to))
      chmodSync(join(folder, to), 0o600)
    } catch (cause) {
      throw new MustAct(`${setting} names ${from}, which cannot be read`, { cause })
    }
  }
  copy(certFile, certCopy, 'AIRPROOF_TLS_CERT_FILE')
  copy(keyFile, keyCopy, 'AIRPROOF_TLS_KEY_FILE')
}
