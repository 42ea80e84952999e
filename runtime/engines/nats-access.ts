/**
 * The passwords of our own processes on a NATS server of our own, and the key that the gate signs
 * with: made once for a data folder, kept there in a file that only its owner reads.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createAccount, fromSeed } from '@nats-io/nkeys'
import { asVersion1 } from '../../schemas/formats.ts'
import { codeOf, MustAct } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'
import { type OwnUser, ownUsers, type UsersFile } from './nats-users.ts'

export type NatsAccess = {
  /** Seed of an account key of NATS, `SA…`: whoever has it can let anybody in as anybody. */
  readonly issuerSeed: string
  readonly passwords: Readonly<Record<OwnUser, string>>
}

export function newNatsAccess(): NatsAccess {
  const password = (): string => randomBytes(24).toString('base64url')
  const passwords = {
    pipeline: password(),
    anchor: password(),
    notifier: password(),
    api: password(),
    dashboard: password(),
    gate: password(),
    operator: password(),
    callout: password(),
    system: password(),
  }
  return { issuerSeed: new TextDecoder().decode(createAccount().getSeed()), passwords }
}

/** What `usersConf` needs to know. */
export const usersFileOf = ({ issuerSeed, passwords }: NatsAccess): UsersFile => ({
  issuer: fromSeed(new TextEncoder().encode(issuerSeed)).getPublicKey(),
  passwords,
})

/** Reads the file, or makes it. @throws MustAct where it is not of our making */
export function openNatsAccess(file: string): NatsAccess {
  const found = readAccess(file)
  if (found !== undefined) return found
  const made = newNatsAccess()
  writePrivateFile(file, `${JSON.stringify(made, null, 2)}\n`)
  return made
}

function readAccess(file: string): NatsAccess | undefined {
  try {
    const found = asVersion1('access', JSON.parse(readFileSync(file, 'utf8')))
    if (isAccess(found)) return found
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new MustAct(
    `${file} does not hold the passwords of our NATS users: restore it from a copy, or move it away and new ones are made`,
  )
}

const isAccess = (value: unknown): value is NatsAccess =>
  typeof value === 'object' &&
  value !== null &&
  'issuerSeed' in value &&
  typeof value.issuerSeed === 'string' &&
  'passwords' in value &&
  hasAll(value.passwords)

const hasAll = (passwords: unknown): boolean =>
  typeof passwords === 'object' &&
  passwords !== null &&
  ownUsers.every(
    (name) => typeof Object.entries(passwords).find(([user]) => user === name)?.[1] === 'string',
  )
