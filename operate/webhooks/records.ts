/** Webhooks as the operator sees them: of all accounts, and never a secret. */

import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { MustAct } from '../../runtime/exit.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import { changeEntry } from '../../runtime/nats/cas.ts'
import { buckets } from '../../schemas/subjects.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'

const longestDetail = 300

export type WebhookState = 'active' | 'paused' | 'disabled'

/** What keeps it from sending: the stronger of both. */
export function stateOf({ active, paused }: Pick<Webhook, 'active' | 'paused'>): WebhookState {
  if (!active) return 'disabled'
  return paused ? 'paused' : 'active'
}

/** Oldest first. @param account only its webhooks */
export async function listWebhooks(nc: NatsConnection, account?: string): Promise<Webhook[]> {
  await using webhooks = await watchBucket(nc, buckets.webhooks, parseWebhook)
  return [...webhooks.entries()]
    .map(([, webhook]) => webhook)
    .filter((webhook) => account === undefined || webhook.account === account)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
}

const openBucket = (nc: NatsConnection): Promise<KV> => new Kvm(nc).open(buckets.webhooks)

/** @throws MustAct */
export async function needWebhook(nc: NatsConnection, id: string): Promise<Webhook> {
  const kv = await openBucket(nc)
  return parsed(id, webhookNumberOf(id) === undefined ? null : await kv.get(id))
}

/** @throws MustAct */
function parsed(id: string, read: KvEntry | null): Webhook {
  const webhook = parseWebhook(jsonOf(read))
  if (webhook !== undefined) return webhook
  throw new MustAct(`there is no webhook ${id}: \`airproof webhooks list\` shows them`)
}

async function change(
  nc: NatsConnection,
  id: string,
  to: (webhook: Webhook) => Webhook,
): Promise<Webhook> {
  const webhook = await needWebhook(nc, id)
  const kv = await openBucket(nc)
  return (await changeEntry(kv, id, (read) => to(parsed(id, read)))) ?? webhook
}

type Disabling = { readonly detail: string | undefined; readonly nowMs: number }

/** Afterwards only the operator can enable it. @throws MustAct */
export const disableWebhook = (
  nc: NatsConnection,
  id: string,
  { detail, nowMs }: Disabling,
): Promise<Webhook> => {
  const at = formatIso(nowMs)
  const why = detail === undefined ? {} : { detail: detail.slice(0, longestDetail) }
  const disabled = { reason: 'operator' as const, at, ...why }
  return change(nc, id, (webhook) => ({ ...webhook, active: false, disabled, updated_at: at }))
}

/** Whether its owner, a receiver or the operator disabled it. @throws MustAct */
export const enableWebhook = (nc: NatsConnection, id: string, nowMs: number): Promise<Webhook> =>
  change(nc, id, (webhook) => {
    const { disabled: _, ...rest } = webhook
    return { ...rest, active: true, updated_at: formatIso(nowMs) }
  })
