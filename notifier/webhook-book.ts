/** The webhooks as the notifier needs them: watched, indexed by shard, secrets opened when used. */
import { defaultAqiThreshold } from '../core/air/thresholds.ts'
import { type EventKind, type SourceName, sourceOf } from '../core/delivery/delivery.ts'
import {
  shardCount,
  shardOf,
  type WebhookNumber,
  webhookIdOf,
  webhookNumberOf,
} from '../core/delivery/webhook-id.ts'
import {
  createWebhookIndex,
  type Subscription,
  type WebhookIndex,
} from '../core/delivery/webhook-match.ts'
import { parseIso } from '../core/iso-time.ts'
import type { WatchedBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import type { SecretsInForce } from '../runtime/webhook-signature.ts'
import type { Webhook } from '../schemas/webhooks/webhook.ts'

export type BookEntry = {
  readonly webhook: Webhook
  readonly number: WebhookNumber
  readonly account: string
  /** Sent to: neither paused nor disabled, and its account is premium. */
  readonly isOpen: boolean
  /** Events stored before this time are not delivered to it. */
  readonly createdMs: number
  /** Since when it may have had its present filters. */
  readonly updatedMs: number
}

export type WebhookBook = Disposable & {
  readonly get: (number: WebhookNumber) => BookEntry | undefined
  /** Deleted. A webhook with an unreadable entry is not: it stays closed until it can be read. */
  readonly isGone: (number: WebhookNumber) => boolean
  readonly index: (shard: number) => WebhookIndex
  /** @throws MustAct if the secret does not open with our key */
  readonly secretsOf: (entry: BookEntry, nowMs: number) => SecretsInForce
  /** Called after the book holds the change, with the entry before it. */
  readonly onChange: (
    listener: (number: WebhookNumber, before: BookEntry | undefined) => void,
  ) => () => void
  readonly size: () => number
  readonly entries: () => IterableIterator<BookEntry>
}

/** The premium accounts of bucket `accounts`: webhooks of all others are held as if paused. */
export type PremiumAccounts = Pick<WatchedBucket<true>, 'get' | 'entries' | 'onChange'>

export const parsePremium = (value: unknown): true | undefined =>
  typeof value === 'object' && value !== null && 'tier' in value && value.tier === 'premium'
    ? true
    : undefined

export function openWebhookBook(
  bucket: WatchedBucket<Webhook>,
  accounts: PremiumAccounts,
  box: SecretBox,
): WebhookBook {
  const premium = new Set([...accounts.entries()].map(([account]) => account))
  const entries = new Map<WebhookNumber, BookEntry>()
  const indices = Array.from({ length: shardCount }, createWebhookIndex)
  const opened = new WeakMap<Webhook, { readonly current: string; readonly previous?: string }>()
  const listeners = new Set<(number: WebhookNumber, before: BookEntry | undefined) => void>()

  const indexOf = (shard: number): WebhookIndex => {
    const index = indices[shard]
    if (index === undefined) throw new RangeError(`there is no shard ${shard}`)
    return index
  }

  const take = (key: string, webhook: Webhook | undefined): void => {
    const number = webhookNumberOf(key)
    if (number === undefined) return
    const before = entries.get(number)
    const index = indexOf(shardOf(number))
    if (webhook === undefined) {
      entries.delete(number)
      index.remove(number)
    } else {
      entries.set(number, entryOf(number, webhook, premium.has(webhook.account)))
      if (webhook.active) index.put(subscriptionOf(number, webhook))
      else index.remove(number)
    }
    for (const listener of listeners) listener(number, before)
  }

  for (const [key, webhook] of bucket.entries()) take(key, webhook)
  const stopWebhooks = bucket.onChange(({ key, value }) => take(key, value))
  const stopAccounts = accounts.onChange(({ key: account, value }) => {
    const isPremium = value === true
    if (premium.has(account) === isPremium) return
    if (isPremium) premium.add(account)
    else premium.delete(account)
    for (const { webhook } of entries.values())
      if (webhook.account === account) take(webhook.id, webhook)
  })

  const open = (webhook: Webhook) => {
    const secrets = opened.get(webhook)
    if (secrets !== undefined) return secrets
    const { current, previous } = webhook.secrets
    const created = {
      current: box.open(current, webhook.id),
      ...(previous === undefined ? {} : { previous: box.open(previous.sealed, webhook.id) }),
    }
    opened.set(webhook, created)
    return created
  }

  return {
    get: (number) => entries.get(number),
    isGone: (number) => !entries.has(number) && !bucket.isBroken(webhookIdOf(number)),
    index: indexOf,
    secretsOf: ({ webhook }, nowMs) => {
      const { current, previous } = open(webhook)
      const until = webhook.secrets.previous?.until
      // during a rotation receivers still know the previous secret, so it signs under the usual
      // name
      if (previous === undefined || until === undefined || nowMs >= msOf(until))
        return { secret: current }
      return { secret: previous, next: current }
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    size: () => entries.size,
    entries: () => entries.values(),
    [Symbol.dispose]: () => {
      stopWebhooks()
      stopAccounts()
    },
  }
}

const entryOf = (number: WebhookNumber, webhook: Webhook, isPremium: boolean): BookEntry => ({
  webhook,
  number,
  account: webhook.account,
  isOpen: webhook.active && !webhook.paused && isPremium,
  createdMs: msOf(webhook.created_at),
  updatedMs: msOf(webhook.updated_at),
})

/** A text that is not a time counts as 0: better an event too many than one too few. */
function msOf(text: string): number {
  const verdict = parseIso(text)
  return 'timeMs' in verdict ? verdict.timeMs : 0
}

export function subscriptionOf(number: WebhookNumber, webhook: Webhook): Subscription {
  const { sensor_id: sensor, area, aqi_threshold: threshold, min_quality } = webhook.filters
  const events: readonly EventKind[] = webhook.events
  return {
    number,
    events,
    sensor,
    area,
    threshold: threshold ?? defaultAqiThreshold,
    minQuality: min_quality,
  }
}

/** An index of one webhook: matches events against only this one. */
export function indexOfOne(subscription: Subscription): WebhookIndex {
  const index = createWebhookIndex()
  index.put(subscription)
  return index
}

/** The sources of the events that the webhook subscribes to. */
export const sourcesOf = ({ events }: Pick<Webhook, 'events'>): ReadonlySet<SourceName> =>
  new Set(events.map(sourceOf))

/**
 * Since when a webhook of the shard may want the source, ms since the epoch; Infinity: none does.
 */
export function wantedSinceMs(book: WebhookBook, shard: number, source: SourceName): number {
  const since = [...book.entries()]
    .filter(({ number }) => shardOf(number) === shard)
    .filter(({ webhook }) => webhook.active && sourcesOf(webhook).has(source))
    .map(({ updatedMs }) => updatedMs)
  return Math.min(...since)
}
