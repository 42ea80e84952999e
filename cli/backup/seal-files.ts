/**
 * Secrets in a backup: all in one file, under a passphrase. scrypt makes the key (2^17, 8, 1: 128 MB
 * and some 0.4 s per guess), AES-256-GCM encrypts. What the key was made with is in front, and is
 * authenticated too.
 */

import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { MustAct } from '../../runtime/exit.ts'
import { readSettings, type SettingsSource } from '../../runtime/settings.ts'

/** @param why what it is needed for @throws MustAct there is none */
export function needPassphrase(source: SettingsSource, why: string): string {
  const passphrase = readSettings(source).secret('AIRPROOF_BACKUP_PASSPHRASE')
  if (passphrase !== undefined && passphrase.length >= leastCharacters) return passphrase
  throw new MustAct(
    `${why}: put a passphrase of at least ${leastCharacters} characters into a file (\`openssl rand -base64 24\`), and name it with AIRPROOF_BACKUP_PASSPHRASE_FILE`,
  )
}

const leastCharacters = 12

/** Name, relative to the data folder, and content. */
export type SecretFiles = ReadonlyMap<string, Buffer>

const head = 'airproof.sealed-files.v1\n'
const saltBytes = 16
const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

const keyOf = (passphrase: string, salt: Uint8Array): Buffer =>
  scryptSync(passphrase.normalize('NFC'), salt, 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 })

export function sealFiles(files: SecretFiles, passphrase: string): Buffer {
  const [salt, nonce] = [randomBytes(saltBytes), randomBytes(nonceBytes)]
  const front = Buffer.concat([Buffer.from(head), salt, nonce])
  const cipher = createCipheriv(algorithm, keyOf(passphrase, salt), nonce, {
    authTagLength: tagBytes,
  })
  cipher.setAAD(front)
  const entries = [...files].map(([name, bytes]) => [name, bytes.toString('base64')])
  const sealed = Buffer.concat([cipher.update(JSON.stringify(entries), 'utf8'), cipher.final()])
  return Buffer.concat([front, cipher.getAuthTag(), sealed])
}

/** @throws MustAct the passphrase is another one, or the file was changed */
export function openFiles(sealed: Buffer, passphrase: string): SecretFiles {
  const front = sealed.subarray(0, head.length + saltBytes + nonceBytes)
  if (front.subarray(0, head.length).toString() !== head)
    throw new MustAct('the secrets of the backup are not sealed as this airproof does it')
  const salt = front.subarray(head.length, head.length + saltBytes)
  const decipher = createDecipheriv(
    algorithm,
    keyOf(passphrase, salt),
    front.subarray(head.length + saltBytes),
    { authTagLength: tagBytes },
  )
  decipher.setAAD(front)
  decipher.setAuthTag(sealed.subarray(front.length, front.length + tagBytes))
  try {
    const rest = sealed.subarray(front.length + tagBytes)
    const text = Buffer.concat([decipher.update(rest), decipher.final()]).toString('utf8')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- authenticated, so it is ours
    const entries = JSON.parse(text) as [string, string][]
    return new Map(entries.map(([name, base64]) => [name, Buffer.from(base64, 'base64')]))
  } catch (cause) {
    throw new MustAct(
      'the secrets of the backup do not open: AIRPROOF_BACKUP_PASSPHRASE_FILE must hold the passphrase that the backup was made with',
      { cause },
    )
  }
}
