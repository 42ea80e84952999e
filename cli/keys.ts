import {
  type AccountBook,
  createKey,
  listKeys,
  needAccount,
  openAccountBook,
  revokeKey,
} from '../operate/account-book.ts'
import { exitCodes } from '../runtime/exit.ts'
import type { KeyRecord } from '../schemas/people/account.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { tableLines } from './shell/table.ts'
import { exactWords, neededFlag, subcommand, textFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'API keys: create, list, revoke',
  help: `\
usage: airproof keys create --account ID|EMAIL [--name NAME]
       airproof keys list [--account ID|EMAIL]
       airproof keys revoke ID

A key is shown once, when it is made: only its hash is stored. It lasts 90 days.
Revoked, it is dead within a second.

  --name NAME   what it is for, to tell it from others
  --json        print data as JSON; create gives {"key", "id", "account", "expires_at", …}

examples:
  npx airproof keys create --account ada@example.org --name "my laptop"
  KEY=$(npx airproof keys create --account ada@example.org --json | jq -r .key)
  npx airproof keys list
  npx airproof keys revoke key_0123456789abcdef`,
  options: {
    account: { type: 'string' },
    name: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    create: ['account', 'name', 'json'],
    list: ['account', 'json'],
    revoke: ['json'],
  },
  run: async (context) => {
    const [verb, words] = subcommand('keys', context.words, { create, list, revoke })
    return await withInstance(context, async (nc) =>
      verb(await openAccountBook(nc), { ...context, words }),
    )
  },
}

async function create(
  book: AccountBook,
  { flags, words, print, note }: CommandContext,
): Promise<number> {
  exactWords(words)
  const account = await needAccount(book, neededFlag(flags, 'account', 'ada@example.org'))
  const name = textFlag(flags, 'name') ?? 'made on the command line'
  const { key, record } = await createKey(book, { account: account.id, name, nowMs: Date.now() })
  if (flags['json'] === true) print(JSON.stringify({ key, ...record }))
  else {
    print(key)
    note(`shown only now; ${record.id} of ${account.email}, until ${record.expires_at}`)
  }
  return exitCodes.done
}

async function list(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  exactWords(words)
  const owner = textFlag(flags, 'account')
  const account = owner === undefined ? undefined : (await needAccount(book, owner)).id
  const keys = await listKeys(book, account)
  if (flags['json'] === true) print(JSON.stringify(keys))
  else for (const line of keyLines(keys, Date.now())) print(line)
  return exitCodes.done
}

const keyLines = (keys: readonly KeyRecord[], nowMs: number): readonly string[] =>
  keys.length === 0
    ? ['no keys: `airproof keys create` makes one']
    : tableLines(
        ['ID', 'KEY', 'ACCOUNT', 'NAME', 'STATE'],
        keys.map((key) => [key.id, `${key.hint}…`, key.account, key.name, stateOf(key, nowMs)]),
      )

function stateOf({ revoked_at, expires_at }: KeyRecord, nowMs: number): string {
  if (revoked_at !== undefined) return `revoked ${revoked_at}`
  return Date.parse(expires_at) <= nowMs ? `expired ${expires_at}` : `until ${expires_at}`
}

async function revoke(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  const [id = ''] = exactWords(words, 'ID')
  const record = await revokeKey(book, id, Date.now())
  print(flags['json'] === true ? JSON.stringify(record) : `revoked ${record.id}`)
  return exitCodes.done
}
