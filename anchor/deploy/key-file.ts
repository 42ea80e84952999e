/** The key that signs anchors: one file, one account, for this and nothing else. */
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Hex, PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { codeOf, MustAct } from '../../runtime/exit.ts'

/**
 * @param setting what names the file, for the sentence about what is wrong with it
 * @returns the account; the key itself stays inside it
 * @throws MustAct where the file is missing, others may read it, or it holds no key. Its content
 * is in no message.
 */
export function readKeyFile(file: string, setting = 'ANCHOR_KEY_FILE'): PrivateKeyAccount {
  const key = readPrivate(file, setting).trim()
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(key))
    throw new MustAct(`${file} must hold one private key, 64 hex digits (${setting})`)
  const hex: Hex = `0x${key.replace(/^0x/, '')}`
  return accountOf(hex, file, setting)
}

/** Makes the file with a new key where there is none. @returns its account  @throws MustAct */
export function ensureKeyFile(file: string): PrivateKeyAccount {
  try {
    // 'wx': a key that is there is never written over
    writeFileSync(file, `0x${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return readKeyFile(file)
}

function accountOf(key: Hex, file: string, setting: string): PrivateKeyAccount {
  try {
    return privateKeyToAccount(key)
  } catch {
    // the cause would carry the key
    throw new MustAct(`${file} holds a number that is not a private key (${setting})`)
  }
}

/** systemd gives a service a credential by an access list, which shows as a group that may read it. */
const isCredential = (file: string, mode: number): boolean =>
  mode === 0o440 && (statSync(dirname(file)).mode & 0o007) === 0

function readPrivate(file: string, setting: string): string {
  try {
    // Windows has no such bits; there the folder's own rights decide
    const mode = process.platform === 'win32' ? 0o600 : statSync(file).mode & 0o777
    if ((mode & 0o077) !== 0 && !isCredential(file, mode))
      throw new MustAct(
        `${file} holds a private key and others may read it (mode ${mode.toString(8)}): chmod 600 ${file}`,
      )
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof MustAct) throw cause
    throw new MustAct(`cannot read the private key (${setting}): ${file}`, { cause })
  }
}
