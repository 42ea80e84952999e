/**
 * The passwords of our own processes on our own NATS server, and the key that the gate signs with:
 * made once per data folder, stored there in a file that only its owner may read.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createAccount, fromSeed } from '@nats-io/nkeys'
import { asVersion1 } from '../../schemas/formats.ts'
import { codeOf, MustAct } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'
import { type OwnUser, ownUsers, type UsersFile } from './nats-users.ts'

export type NatsAccess = {
  /** Seed of an account key of NATS, `SA…`: its holder can authorise any client as any user. */
  readonly issuerSeed: string
  readonly passwords: Readonly<Record<OwnUser, string>>
}

export function newNatsAccess(): NatsAccess {
  const password = (): string => randomBytes(24).toString('base64url')
  const passwords = {
    pipeline: password(),
    anchor: password(),
    notifier: password(),
    archive: password(),
    api: password(),
    dashboard: password(),
    gate: password(),
    operator: password(),
    callout: password(),
    system: password(),
  }
  return { issuerSeed: new TextDecoder().decode(createAccount().getSeed()), passwords }
}

/** The input of `usersConf`. */
export const usersFileOf = ({ issuerSeed, passwords }: NatsAccess): UsersFile => ({
  issuer: fromSeed(new TextEncoder().encode(issuerSeed)).getPublicKey(),
  passwords,
})

/** Reads the file, or makes it. @throws MustAct if it is not one of ours */
export function openNatsAccess(file: string): NatsAccess {
  const stored = readNatsAccess(file)
  if (stored !== undefined) return withNewUsers(stored, file)
  const fresh = newNatsAccess()
  writePrivateFile(file, `${JSON.stringify(fresh, null, 2)}\n`)
  return fresh
}

/**
 * Changes nothing; a file of an earlier version may lack the password of a process that came later.
 * @throws MustAct if it is not one of ours
 */
export function readNatsAccess(file: string): NatsAccess | undefined {
  try {
    const stored = asVersion1('access', JSON.parse(readFileSync(file, 'utf8')))
    if (isAccess(stored)) return stored
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new MustAct(
    `${file} does not hold the passwords of our NATS users: restore it from a backup, or move it away so that new ones are made`,
  )
}

/** Those that every file has, since 0.1. */
const usersOf01 = ownUsers.filter((name) => name !== 'archive')

/** A file of an earlier version has no password of a process that came later: it gets one. */
function withNewUsers(stored: NatsAccess, file: string): NatsAccess {
  if (hasAll(stored.passwords, ownUsers)) return stored
  const { passwords } = newNatsAccess()
  const complete = { ...stored, passwords: { ...passwords, ...stored.passwords } }
  writePrivateFile(file, `${JSON.stringify(complete, null, 2)}\n`)
  return complete
}

const isAccess = (value: unknown): value is NatsAccess =>
  typeof value === 'object' &&
  value !== null &&
  'issuerSeed' in value &&
  typeof value.issuerSeed === 'string' &&
  'passwords' in value &&
  hasAll(value.passwords, usersOf01)

const hasAll = (passwords: unknown, names: readonly OwnUser[]): boolean =>
  typeof passwords === 'object' &&
  passwords !== null &&
  names.every(
    (name) => typeof Object.entries(passwords).find(([user]) => user === name)?.[1] === 'string',
  )
