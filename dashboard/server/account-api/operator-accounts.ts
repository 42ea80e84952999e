import { type AccountBook, changeAccount, needAccount } from '../../../operate/account-book.ts'
import { MustAct } from '../../../runtime/exit.ts'
import type { WatchedBucket } from '../../../runtime/nats/buckets/watched-bucket.ts'
import type { Account } from '../../../schemas/people/account.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { jsonRoute, wrongFields } from './json-route.ts'
import { choiceOf, wholeOf } from './query-params.ts'

type Options = {
  readonly book: AccountBook
  readonly accounts: Pick<WatchedBucket<Account>, 'entries' | 'barrier'>
  readonly audit: WriteAudit
}

const path = '/operator/api/accounts'
const needs = 'operator'
const tiers = ['free', 'premium'] as const

/** Accounts and their tiers. Only the command line changes a role or deletes an account. */
export const operatorAccountRoutes = ({
  book,
  accounts,
  audit,
}: Options): readonly DashboardRoute[] => [
  jsonRoute({
    method: 'GET',
    path,
    needs,
    answer: async ({ query }) => {
      const words = (query.get('search') ?? '').toLowerCase().slice(0, 200)
      const tier = choiceOf(query, 'tier', tiers)
      const limit = wholeOf(query, 'limit', { most: 500, unless: 100 })
      await accounts.barrier()
      const fits = (account: Account): boolean => {
        const { id, email, name, organization = '' } = account
        return (
          (tier === undefined || account.tier === tier) &&
          [id, email, name, organization].some((text) => text.toLowerCase().includes(words))
        )
      }
      const matches = [...accounts.entries()]
        .map(([, account]) => account)
        .filter(fits)
        .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return { total: matches.length, accounts: matches.slice(0, limit).map(viewOf) }
    },
  }),
  jsonRoute({
    method: 'PATCH',
    path: `${path}/:id`,
    needs,
    answer: async ({ names, body, session, ctx }) => {
      const tier = tierOf(body)
      const before = await find(book, names['id'] ?? '')
      const account = await changeAccount(book, before.id, { tier })
      const what = { account: account.id, from: before.tier, to: tier }
      await audit(session.account.id, 'operator_tier_changed', ctx, what)
      if (account.id !== session.account.id)
        await audit(account.id, 'tier_changed', undefined, { from: before.tier, to: tier })
      return { account: viewOf(account) }
    },
  }),
]

const viewOf = (account: Account): object => ({
  id: account.id,
  email: account.email,
  name: account.name,
  organization: account.organization ?? null,
  tier: account.tier,
  role: account.role,
  created_at: account.created_at,
  confirmed_at: account.confirmed_at ?? null,
})

/** @throws Refusal 400 */
function tierOf({ tier, ...others }: Readonly<Record<string, unknown>>): Account['tier'] {
  const known = tiers.find((name) => name === tier)
  if (known !== undefined && Object.keys(others).length === 0) return known
  throw wrongFields([{ field: 'tier', expected: `${tiers.join(' or ')}, and nothing else` }])
}

/** @throws Refusal 404 */
async function find(book: AccountBook, id: string): Promise<Account> {
  try {
    // only by id: an address in a path would be in logs
    if (!id.includes('@')) return await needAccount(book, id)
  } catch (error) {
    if (!(error instanceof MustAct)) throw error
  }
  throw new Refusal(404, 'account_not_found', 'there is no account of that id')
}
