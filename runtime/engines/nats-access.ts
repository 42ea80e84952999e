/**
 * The passwords of our own processes on our own NATS server, and the key that the gate signs with:
 * made once per data folder, stored there in a file that only its owner may read. What the server and the
 * processes read is made from it, and made again at any time.
 *
 * A rotation is in it too, step by step, so that it can be interrupted anywhere (docs/secrets.md):
 * `offered`: the server has the present password, and the process's file has the next one as well;
 * `switched`: the server has the new one, and the file has the former one as well;
 * then it is over: the file has the new one only.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount, fromSeed } from '@nats-io/nkeys'
import { asVersion1 } from '../../schemas/formats.ts'
import { codeOf, MustAct } from '../exit.ts'
import { writePrivateFile } from '../private-file.ts'
import { type OwnUser, ownUsers, type UsersFile } from './nats-users.ts'

export type NatsAccess = {
  /** Seed of an account key of NATS, `SA…`: its holder can authorise any client as any user. */
  readonly issuerSeed: string
  /** Those that the servers know, or will at their next reload. */
  readonly passwords: Readonly<Record<OwnUser, string>>
  readonly rotation?: Rotation
}

export type Rotation = {
  readonly step: 'offered' | 'switched'
  /** The other password of each user that is rotated: the next one if offered, the former one if switched. */
  readonly others: Readonly<Partial<Record<OwnUser, string>>>
  /** The other seed, while that is rotated. Servers take the new one when they start, and at no reload. */
  readonly issuerSeed?: string
}

/** In the data folder of `airproof up`. */
export const accessFileIn = (dataFolder: string): string => join(dataFolder, 'nats-access.json')
/** Where our own server has `users.conf`, and our processes their passwords. */
export const natsFolderIn = (dataFolder: string): string => join(dataFolder, 'nats')

const newPassword = (): string => randomBytes(24).toString('base64url')

export function newNatsAccess(): NatsAccess {
  const password = newPassword
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
  return { issuerSeed: newIssuerSeed(), passwords }
}

const newIssuerSeed = (): string => new TextDecoder().decode(createAccount().getSeed())

/** The next step of a rotation; without one, its first. @param wanted users to rotate, or the seed */
export function rotateNext(access: NatsAccess, wanted: readonly OwnUser[] | 'seed'): NatsAccess {
  const { rotation, ...rest } = access
  if (rotation === undefined) {
    const first = { step: 'offered', others: {} } as const
    if (wanted === 'seed') return { ...rest, rotation: { ...first, issuerSeed: newIssuerSeed() } }
    const others = Object.fromEntries(wanted.map((user) => [user, newPassword()]))
    return { ...rest, rotation: { ...first, others } }
  }
  if (rotation.step === 'switched') return rest
  if (rotation.issuerSeed !== undefined) {
    const { issuerSeed } = rotation
    const former = { ...rotation, step: 'switched', issuerSeed: rest.issuerSeed } as const
    return { ...rest, issuerSeed, rotation: former }
  }
  const former = Object.fromEntries(
    rotatedUsers(access).map((user) => [user, rest.passwords[user]]),
  )
  const passwords = { ...rest.passwords, ...rotation.others }
  return { ...rest, passwords, rotation: { step: 'switched', others: former } }
}

export const rotatedUsers = ({ rotation }: NatsAccess): readonly OwnUser[] =>
  ownUsers.filter((user) => rotation?.others[user] !== undefined)

/** The content of `<user>-password`: what the server has comes first, but either may be tried. */
export const passwordText = ({ passwords, rotation }: NatsAccess, user: OwnUser): string =>
  [passwords[user], rotation?.others[user]]
    .filter((password) => password !== undefined)
    .map((password) => `${password}\n`)
    .join('')

/** The content of `callout-seed`: the former one first, as a server that names none of them has that one. */
export const seedText = ({ issuerSeed, rotation }: NatsAccess): string => {
  const other = rotation?.issuerSeed
  const seeds = rotation?.step === 'switched' ? [other, issuerSeed] : [issuerSeed, other]
  return seeds.map((seed) => (seed === undefined ? '' : `${seed}\n`)).join('')
}
export const seedFile = 'callout-seed'

/** Each user's own, so that no process reads another's. */
export const passwordFileOf = (user: OwnUser): string => `${user}-password`

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
  writeNatsAccess(file, fresh)
  return fresh
}

/** Atomically. */
export const writeNatsAccess = (file: string, access: NatsAccess): void =>
  writePrivateFile(file, `${JSON.stringify(access, null, 2)}\n`)

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
  writeNatsAccess(file, complete)
  return complete
}

const isAccess = (value: unknown): value is NatsAccess =>
  typeof value === 'object' &&
  value !== null &&
  'issuerSeed' in value &&
  typeof value.issuerSeed === 'string' &&
  'passwords' in value &&
  hasAll(value.passwords, usersOf01) &&
  (!('rotation' in value) || isRotation(value.rotation))

const isRotation = (value: unknown): value is Rotation =>
  typeof value === 'object' &&
  value !== null &&
  'step' in value &&
  (value.step === 'offered' || value.step === 'switched') &&
  'others' in value &&
  typeof value.others === 'object' &&
  value.others !== null &&
  Object.values(value.others).every((password) => typeof password === 'string') &&
  (!('issuerSeed' in value) || typeof value.issuerSeed === 'string')

const hasAll = (passwords: unknown, names: readonly OwnUser[]): boolean =>
  typeof passwords === 'object' &&
  passwords !== null &&
  names.every(
    (name) => typeof Object.entries(passwords).find(([user]) => user === name)?.[1] === 'string',
  )
