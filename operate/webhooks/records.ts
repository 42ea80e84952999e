/** Webhooks as the operator sees them: everybody's, and never a secret. */

import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { jsonOf } from '../../runtime/nats/read-entry.ts'
import { isWrongLastSequence } from '../../runtime/nats/stored-message.ts'
import { watchBucket } from '../../runtime/nats/watched-bucket.ts'
import { buckets } from '../../schemas/subjects.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'

const mostTries = 10
const longestDetail = 300

export type WebhookState = 'active' | 'paused' | 'disabled'

/** What keeps it from sending: the stronger of both. */
export function stateOf({ active, paused }: Pick<Webhook, 'active' | 'paused'>): WebhookState {
  if (!active) return 'disabled'
  return paused ? 'paused' : 'active'
}

/** Oldest first. @param account only its webhooks */
export async function listWebhooks(nc: NatsConnection, account?: string): Promise<Webhook[]> {
  await using found = await watchBucket(nc, buckets.webhooks, parseWebhook)
  return [...found.entries()]
    .map(([, webhook]) => webhook)
    .filter((webhook) => account === undefined || webhook.account === account)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
}

const openBucket = (nc: NatsConnection): Promise<KV> => new Kvm(nc).open(buckets.webhooks)

/** @throws MustAct */
export async function needWebhook(nc: NatsConnection, id: string): Promise<Webhook> {
  return (await read(await openBucket(nc), id)).webhook
}

async function read(kv: KV, id: string): Promise<{ webhook: Webhook; revision: number }> {
  const entry = webhookNumberOf(id) === undefined ? null : await kv.get(id)
  const webhook = parseWebhook(jsonOf(entry))
  if (entry === null || webhook === undefined)
    throw new MustAct(`there is no webhook ${id}: \`airproof webhooks list\` shows them`)
  return { webhook, revision: entry.revision }
}

async function change(
  nc: NatsConnection,
  id: string,
  to: (webhook: Webhook) => Webhook,
): Promise<Webhook> {
  const kv = await openBucket(nc)
  for (let tries = 0; tries < mostTries; tries++) {
    const { webhook, revision } = await read(kv, id)
    const changed = to(webhook)
    try {
      await kv.update(id, JSON.stringify(changed), revision)
      return changed
    } catch (error) {
      if (!isWrongLastSequence(error)) throw error
    }
  }
  throw new TryAgain(`${id} is being changed by somebody else all the time`)
}

type Disabling = { readonly detail: string | undefined; readonly nowMs: number }

/** Nobody but the operator can enable it again. @throws MustAct */
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

/** Whoever disabled it. @throws MustAct */
export const enableWebhook = (nc: NatsConnection, id: string, nowMs: number): Promise<Webhook> =>
  change(nc, id, (webhook) => {
    const { disabled: _, ...rest } = webhook
    return { ...rest, active: true, updated_at: formatIso(nowMs) }
  })
