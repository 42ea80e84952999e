/** Everything that belongs to an account: to hand it out, and to remove it. */
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { removeAccount } from '../../../runtime/account-book.ts'
import { watchBucket, watchChecked } from '../../../runtime/watched-bucket.ts'
import type { Account, KeyRecord } from '../../../schemas/account.ts'
import { auditStream, auditSubject, buckets } from '../../../schemas/subjects.ts'
import { parseWebhook } from '../../../schemas/webhook.ts'
import { readAudit } from './audit-log.ts'
import type { LinkUse } from './link-tokens.ts'
import type { People } from './people.ts'

/** All that is kept of somebody, but for what would let others in: hashes, tokens, secrets. */
export async function exportAccount(people: People, account: Account): Promise<object> {
  const { nc, sessions } = people
  const { id } = account
  const keys = await entriesOf<KeyRecord>(nc, buckets.keys, ({ account: of }) => of === id)
  const used = new Map(await entriesOf<string>(nc, buckets.used, () => true))
  const usage = await entriesOf<object>(nc, buckets.quota, (_, key) => key.endsWith(`.${id}`))
  const webhooks = await ownWebhooks(nc, id)
  return {
    account,
    keys: keys.map(([, key]) => ({ ...key, last_used_at: used.get(key.id) ?? null })),
    sessions: sessions.list(id),
    webhooks: webhooks.map((webhook) => ({ ...webhook, secrets: undefined })),
    usage: usage.map(([key, count]) => ({ day: key.slice(0, -id.length - 1), ...count })),
    security_events: await readAudit(nc, id),
  }
}

/**
 * What lets programs in goes first, what lets the person in last: killed half-way, the account can
 * be signed in to and deleted again. The address is free when this resolves.
 */
export async function deleteAccount(people: People, account: Account): Promise<void> {
  const { nc, book, passwords, sessions } = people
  const { id } = account
  const kvm = new Kvm(nc)
  const keys = await entriesOf<KeyRecord>(nc, buckets.keys, ({ account: of }) => of === id)
  await Promise.all(keys.map(([hash]) => book.keys.delete(hash)))
  const webhooks = await kvm.open(buckets.webhooks)
  for (const webhook of await ownWebhooks(nc, id)) await webhooks.delete(webhook.id)
  const used = await kvm.open(buckets.used)
  await Promise.all(keys.map(([, key]) => used.delete(key.id)))
  const quota = await kvm.open(buckets.quota)
  const days = await entriesOf<object>(nc, buckets.quota, (_, key) => key.endsWith(`.${id}`))
  await Promise.all(days.map(([key]) => quota.delete(key)))
  // links of mails, and of the page that sends them again, hold name, address and password's hash
  const tokens = await kvm.open(buckets.tokens)
  const links = await entriesOf<{ readonly use: LinkUse }>(
    nc,
    buckets.tokens,
    ({ use }) => use.email === account.email || ('account' in use && use.account === id),
  )
  await Promise.all(links.map(([hash]) => tokens.delete(hash)))
  const manager = await jetstreamManager(nc, { checkAPI: false })
  await manager.streams.purge(auditStream, { filter: auditSubject(id) })
  await passwords.purge(id)
  await removeAccount(book, account)
  await sessions.endAll(id)
}

const ownWebhooks = async (nc: NatsConnection, id: string) => {
  await using found = await watchBucket(nc, buckets.webhooks, parseWebhook)
  return [...found.entries()].map(([, one]) => one).filter(({ account }) => account === id)
}

async function entriesOf<T>(
  nc: NatsConnection,
  bucket: string,
  isWanted: (value: T, key: string) => boolean,
): Promise<readonly [string, T][]> {
  await using found = await watchChecked<T>(nc, bucket)
  return [...found.entries()].filter(([key, value]) => isWanted(value, key))
}
