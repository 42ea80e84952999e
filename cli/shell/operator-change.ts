/** Which commands change something that all share, and how they are kept in the operators' log. */
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso } from '../../core/iso-time.ts'
import { type OperatorEntry, operatorHere, writeOperatorEntry } from '../../operate/operator-log.ts'
import { inWords } from '../../runtime/exit.ts'
import type { Environment, Flags } from '../../runtime/settings.ts'

/** By command: the verbs, or `''` where it has none. A unit test compares them with all commands. */
export const changing: Readonly<Record<string, readonly string[]>> = {
  access: [''],
  accounts: ['create', 'tier', 'role'],
  keys: ['create', 'revoke'],
  sensors: ['add', 'import', 'move', 'set', 'key', 'remove'],
  applications: ['add', 'key', 'remove'],
  webhooks: ['disable', 'enable', 'replay'],
  rejected: ['replay'],
  replay: [''],
  anchor: ['deploy', 'writer', 'resync'],
  archive: ['now'],
  store: ['setup'],
  streams: [''],
  upgrade: [''],
}

export type Change = {
  readonly what: string
  readonly words: readonly string[]
  readonly flags: Flags
  readonly env: Environment
  /** For a person, where it cannot be written. */
  readonly note: (line: string) => void
}

/** undefined: the command only reads, or only says what it would do. */
export function changeOf(name: string, change: Omit<Change, 'what'>): Change | undefined {
  const verbs = changing[name] ?? []
  const [verb = ''] = change.words
  if (change.flags['dry-run'] === true) return undefined
  if (verbs.includes('')) return { what: name, ...change }
  return verbs.includes(verb) ? { what: `${name} ${verb}`, ...change } : undefined
}

type Done = { readonly outcome: string; readonly user: string | undefined }

export function entryOf(
  { what, words, flags, env }: Change,
  { outcome, user }: Done,
): OperatorEntry {
  const details = {
    outcome: shortened(outcome),
    words: shown(words.join(' ')),
    flags: shown(flagsInWords(flags)),
    ...(user === undefined ? {} : { nats_user: user }),
  }
  return { at: formatIso(Date.now()), who: operatorHere(env['SUDO_USER']), what, details }
}

/** Written after the command, whatever came of it: a command whose entry cannot be kept has been done all the same. */
export async function keepChange(
  nc: NatsConnection,
  change: Change,
  { stop, ...done }: Done & { readonly stop: AbortSignal },
): Promise<void> {
  const entry = entryOf(change, done)
  try {
    await writeOperatorEntry(nc, entry, stop)
  } catch (error) {
    change.note(notKept(entry, error))
  }
}

/** The entry itself is in it, so that a person can keep it. */
export const notKept = (entry: OperatorEntry, error: unknown): string =>
  `this is not in \`airproof audit-log\` (${inWords(error)}), so keep it yourself: ${JSON.stringify(entry)}`

/** What a person types is short; a list of files may not be. */
const longest = 500
const shortened = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}…`
const shown = (text: string): string => shortened(text.trim())

/** A command line holds no secrets, but for those that `--help` warns of. */
const isSecret = (name: string): boolean => /token|password|passphrase|secret/.test(name)

const flagsInWords = (flags: Flags): string =>
  Object.entries(flags)
    .filter(([name, value]) => value !== undefined && name !== 'json')
    .map(([name, value]) =>
      value === true ? `--${name}` : `--${name} ${isSecret(name) ? '…' : String(value)}`,
    )
    .join(' ')
