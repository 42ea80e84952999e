import {
  type AccountBook,
  changeAccount,
  createAccount,
  listAccounts,
  openAccountBook,
} from '../operate/account-book.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import type { Account } from '../schemas/people/account.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { tableLines } from './shell/table.ts'
import { exactWords, neededFlag, subcommand, textFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'accounts: create, list, change tier or role',
  help: `\
usage: airproof accounts create --email EMAIL --name NAME [--tier free|premium]
       airproof accounts list
       airproof accounts tier EMAIL free|premium
       airproof accounts role EMAIL operator|user

An account owns API keys (airproof keys). An address has at most one account, however it is typed.

  --json   print data as JSON: {"id", "email", …}

examples:
  npx airproof accounts create --email ada@example.org --name "Ada Obi" --tier premium
  npx airproof accounts tier ada@example.org free
  npx airproof accounts list --json`,
  options: {
    email: { type: 'string' },
    name: { type: 'string' },
    tier: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    create: ['email', 'name', 'tier', 'json'],
    list: ['json'],
    tier: ['json'],
    role: ['json'],
  },
  run: async (context) => {
    const [verb, words] = subcommand('accounts', context.words, { create, list, tier, role })
    return await withInstance(context, async (nc) =>
      verb(await openAccountBook(nc), { ...context, words }),
    )
  },
}

const tiers = ['free', 'premium'] as const
const roles = ['operator', 'user'] as const

async function create(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  exactWords(words)
  const account = await createAccount(book, {
    email: neededFlag(flags, 'email', 'ada@example.org'),
    name: neededFlag(flags, 'name', '"Ada Obi"'),
    tier: oneOf('--tier', tiers, textFlag(flags, 'tier') ?? 'free'),
    nowMs: Date.now(),
  })
  const next = `make a key: npx airproof keys create --account ${account.email}`
  print(
    flags['json'] === true
      ? JSON.stringify(account)
      : `${account.id}  ${account.email} (${account.tier})\n${next}`,
  )
  return exitCodes.done
}

async function list(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  exactWords(words)
  const accounts = await listAccounts(book)
  if (flags['json'] === true) print(JSON.stringify(accounts))
  else for (const line of accountLines(accounts)) print(line)
  return exitCodes.done
}

const accountLines = (accounts: readonly Account[]): readonly string[] =>
  accounts.length === 0
    ? ['no accounts: `airproof accounts create` makes one']
    : tableLines(
        ['ID', 'EMAIL', 'NAME', 'TIER', 'ROLE', 'CREATED'],
        accounts.map(({ id, email, name, tier, role, created_at }) => [
          id,
          email,
          name,
          tier,
          role,
          created_at,
        ]),
      )

async function tier(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  const [email = '', wanted = ''] = exactWords(words, 'EMAIL', 'TIER')
  const account = await changeAccount(book, email, { tier: oneOf('TIER', tiers, wanted) })
  print(flags['json'] === true ? JSON.stringify(account) : `${account.email} is ${account.tier}`)
  return exitCodes.done
}

async function role(book: AccountBook, { flags, words, print }: CommandContext): Promise<number> {
  const [email = '', wanted = ''] = exactWords(words, 'EMAIL', 'operator|user')
  const account = await changeAccount(book, email, { role: oneOf('the role', roles, wanted) })
  print(flags['json'] === true ? JSON.stringify(account) : `${account.email} is ${account.role}`)
  return exitCodes.done
}

function oneOf<T extends string>(what: string, choices: readonly T[], text: string): T {
  const choice = choices.find((name) => name === text)
  if (choice !== undefined) return choice
  throw new WrongUsage(`${what} must be ${choices.join(' or ')}, and is "${text}"`)
}
