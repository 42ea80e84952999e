/** Files next to the configuration of our own nats-server, so that sensors can sign in. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { inWords, MustAct } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'
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
  return {
    usersFile,
    mqttPort,
    ...(tls && {
      tls: { certFile: join(seenAs, certCopy), keyFile: join(seenAs, keyCopy) },
    }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
  }
}

/**
 * Only a whole pair is copied: of a rotation that is half done, or was interrupted, the former one stays.
 * @returns why it does; undefined: it is copied
 * @throws MustAct if there is no former one
 */
export function copyCertificate(
  { certFile, keyFile }: NonNullable<DoorSettings['tls']>,
  folder: string,
): string | undefined {
  const copies = [join(folder, certCopy), join(folder, keyCopy)] as const
  try {
    const cert = readNamed(certFile, 'AIRPROOF_TLS_CERT_FILE')
    const key = readNamed(keyFile, 'AIRPROOF_TLS_KEY_FILE')
    assertPair({ cert, key }, `AIRPROOF_TLS_KEY_FILE names ${keyFile}, not the key of ${certFile}`)
    writePrivateFile(copies[0], cert)
    writePrivateFile(copies[1], key)
    return undefined
  } catch (error) {
    if (!copies.every((file) => existsSync(file))) throw error
    return inWords(error)
  }
}

function readNamed(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new MustAct(`${setting} names ${file}, which cannot be read`, { cause })
  }
}

function assertPair(
  pair: { readonly cert: string; readonly key: string },
  otherwise: string,
): void {
  try {
    createSecureContext(pair)
  } catch (cause) {
    throw new MustAct(otherwise, { cause })
  }
}
