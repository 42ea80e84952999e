/** Everything that belongs to an account: to hand it out, and to remove it. */

import { jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type AccountBook, removeAccount } from '../../../operate/account-book.ts'
import { lastValues } from '../../../runtime/nats/buckets/last-values.ts'
import { type WatchedBucket, watchChecked } from '../../../runtime/nats/buckets/watched-bucket.ts'
import { asVersion1 } from '../../../schemas/formats.ts'
import type { Account, KeyRecord } from '../../../schemas/people/account.ts'
import { quotaKey } from '../../../schemas/people/quota.ts'
import {
  auditStream,
  auditSubject,
  buckets,
  requestsStream,
  requestsSubject,
} from '../../../schemas/subjects.ts'
import { parseWebhook, type Webhook } from '../../../schemas/webhooks/webhook.ts'
import { readAudit } from '../account-api/audit.ts'
import { readRequests } from '../account-api/request-log.ts'
import type { Sessions } from '../sessions.ts'
import type { LinkUse } from './link-tokens.ts'

/** What an account has in the shared buckets, read without the entries of others. */
export type Holdings = {
  /** By hash. */
  readonly keys: (account: string) => Promise<readonly [string, KeyRecord][]>
  /** Key id → when it was last used. */
  readonly used: (keyIds: readonly string[]) => Promise<ReadonlyMap<string, unknown>>
  /** By `<day>.<account>`, and by `<day>.<account>.<key>` for each key. */
  readonly usage: (account: string) => Promise<readonly [string, object][]>
  readonly webhooks: (account: string) => Promise<readonly Webhook[]>
}

type Sources = {
  readonly nc: NatsConnection
  /** Bucket `keys`. */
  readonly keys: WatchedBucket<KeyRecord>
  readonly hashesOf: (account: string) => ReadonlySet<string>
  /** Bucket `webhooks`. */
  readonly webhooks: Pick<WatchedBucket<unknown>, 'barrier'>
  readonly webhooksOf: (account: string) => ReadonlySet<string>
}

export function openHoldings({ nc, keys, hashesOf, webhooks, webhooksOf }: Sources): Holdings {
  const read = async (bucket: string, names: Iterable<string>): Promise<[string, unknown][]> =>
    [...(await lastValues(nc, bucket, [...names]))].map(([name, text]) => [
      name,
      asVersion1('entry', JSON.parse(text)),
    ])
  return {
    keys: async (account) => {
      await keys.barrier()
      return [...hashesOf(account)].flatMap((hash): [string, KeyRecord][] => {
        const key = keys.get(hash)
        return key === undefined ? [] : [[hash, key]]
      })
    },
    used: async (keyIds) => new Map(await read(buckets.used, keyIds)),
    usage: async (account) => {
      const days = await read(buckets.quota, [quotaKey('*', account)])
      const ofKeys: [string, unknown][] = []
      // a day may have a thousand, which is what the server reads at once
      for (const [name] of days) ofKeys.push(...(await read(buckets.quota, [`${name}.*`])))
      // written only by the API, so taken as it is
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return [...days, ...ofKeys] as [string, object][]
    },
    webhooks: async (account) => {
      await webhooks.barrier()
      const own = await read(buckets.webhooks, webhooksOf(account))
      return own.flatMap(([, value]) => parseWebhook(value) ?? [])
    },
  }
}

/** What is opened once, for all accounts. */
type Opened = {
  readonly nc: NatsConnection
  readonly book: AccountBook
  /** Bucket `passwords`. */
  readonly passwords: KV
  readonly sessions: Sessions
  readonly holdings: Holdings
}

/** All that is stored of an account, except hashes, tokens and secrets. */
export async function exportAccount(opened: Opened, account: Account): Promise<object> {
  const { nc, sessions, holdings } = opened
  const { id } = account
  const keys = await holdings.keys(id)
  const used = await holdings.used(keys.map(([, key]) => key.id))
  const usage = await holdings.usage(id)
  const webhooks = await holdings.webhooks(id)
  return {
    account,
    keys: keys.map(([, key]) => ({ ...key, last_used_at: used.get(key.id) ?? null })),
    sessions: sessions.list(id),
    webhooks: webhooks.map((webhook) => ({ ...webhook, secrets: undefined })),
    usage: usage.map(([name, count]) => {
      const [day, , key] = name.split('.')
      return { day, ...(key === undefined ? {} : { key }), ...count }
    }),
    requests: (await readRequests(nc, id)).requests,
    security_events: await readAudit(nc, id),
  }
}

/**
 * What lets programs in is deleted first, what lets the person in last: killed half-way, the
 * account can be deleted again, if need be with a new password. The address is free when this
 * resolves.
 */
export async function deleteAccount(opened: Opened, account: Account): Promise<void> {
  const { nc, book, passwords, sessions } = opened
  const { id } = account
  await removeHoldings(opened, id)
  // links of mails, and of the page that sends them again, hold the address
  const tokens = await new Kvm(nc).open(buckets.tokens)
  const links = await entriesOf<{ readonly use: LinkUse }>(
    nc,
    buckets.tokens,
    ({ use }) => use.email === account.email || ('account' in use && use.account === id),
  )
  await Promise.all(links.map(([hash]) => tokens.delete(hash)))
  await passwords.delete(id)
  await removeAccount(book, account)
  await sessions.endAll(id)
  // what requests under way have made; later requests find no account
  await removeHoldings(opened, id)
}

async function removeHoldings({ nc, book, holdings }: Opened, id: string): Promise<void> {
  const kvm = new Kvm(nc)
  const keys = await holdings.keys(id)
  await Promise.all(keys.map(([hash]) => book.keys.delete(hash)))
  const webhooks = await kvm.open(buckets.webhooks)
  for (const webhook of await holdings.webhooks(id)) await webhooks.delete(webhook.id)
  const used = await kvm.open(buckets.used)
  await Promise.all(keys.map(([, key]) => used.delete(key.id)))
  const quota = await kvm.open(buckets.quota)
  const days = await holdings.usage(id)
  await Promise.all(days.map(([key]) => quota.delete(key)))
  const manager = await jetstreamManager(nc, { checkAPI: false })
  await manager.streams.purge(auditStream, { filter: auditSubject(id) })
  await manager.streams.purge(requestsStream, { filter: requestsSubject(id) })
}

async function entriesOf<T>(
  nc: NatsConnection,
  bucket: string,
  isWanted: (value: T, key: string) => boolean,
): Promise<readonly [string, T][]> {
  await using entries = await watchChecked<T>(nc, bucket)
  return [...entries.entries()].filter(([key, value]) => isWanted(value, key))
}
