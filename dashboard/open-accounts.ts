/** Accounts, their keys, sessions and webhooks: watched in memory, as every page needs them. */
import type { NatsConnection } from '@nats-io/transport-node'
import { type AccountBook, openAccountBook } from '../operate/account-book.ts'
import { indexByAccount } from '../runtime/nats/buckets/index-by-account.ts'
import {
  type WatchedBucket,
  watchBucket,
  watchChecked,
} from '../runtime/nats/buckets/watched-bucket.ts'
import type { Account, KeyRecord } from '../schemas/people/account.ts'
import { buckets } from '../schemas/subjects.ts'
import { parseWebhook } from '../schemas/webhooks/webhook.ts'
import { type Holdings, openHoldings } from './server/people/holdings.ts'
import { openSessions, type Sessions } from './server/sessions.ts'

export type Accounts = {
  readonly book: AccountBook
  readonly accounts: WatchedBucket<Account>
  readonly sessions: Sessions
  /** By hash. */
  readonly keys: WatchedBucket<KeyRecord>
  readonly hashesOf: (account: string) => ReadonlySet<string>
  readonly holdings: Holdings
}

type Options = { readonly nc: NatsConnection; readonly nowMs: () => number }

export async function openAccounts(
  { nc, nowMs }: Options,
  opened: AsyncDisposableStack,
): Promise<Accounts> {
  const book = await openAccountBook(nc)
  const accounts = opened.use(await watchChecked<Account>(nc, buckets.accounts))
  const sessions = opened.use(await openSessions({ nc, findAccount: accounts.get, nowMs }))
  const keys = opened.use(await watchChecked<KeyRecord>(nc, buckets.keys))
  const hashesOf = indexByAccount(keys)
  const webhooks = opened.use(await watchBucket(nc, buckets.webhooks, ownerOf))
  const webhooksOf = indexByAccount(webhooks)
  const holdings = openHoldings({ nc, keys, hashesOf, webhooks, webhooksOf })
  return { book, accounts, sessions, keys, hashesOf, holdings }
}

/** Of a webhook, all that this process keeps in memory. */
function ownerOf(value: unknown): { readonly account: string } | undefined {
  const webhook = parseWebhook(value)
  return webhook && { account: webhook.account }
}
