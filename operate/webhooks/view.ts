import { toIsoMs } from '../../core/iso-time.ts'
import type { Webhook } from '../../schemas/webhooks/webhook.ts'

/** A webhook as its owner sees it: without a secret, unless one has just been created. */
export type WebhookView = {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly events: Webhook['events']
  readonly filters: Webhook['filters']
  readonly active: boolean
  readonly paused: boolean
  /** Its account is not premium: events are queued for it, but not sent. */
  readonly suspended: boolean
  readonly disabled: NonNullable<Webhook['disabled']> | null
  /** During a rotation: until when the previous secret also signs. */
  readonly previous_secret_until: string | null
  readonly created_at: string
  readonly updated_at: string
}

type Now = { readonly nowMs: number; readonly isPremium: boolean }

export function viewOf(webhook: Webhook, { nowMs, isPremium }: Now): WebhookView {
  const { id, url, description = null, events, filters, active, paused, disabled = null } = webhook
  const until = webhook.secrets.previous?.until ?? null
  return {
    id,
    url,
    description,
    events,
    filters,
    active,
    paused,
    suspended: !isPremium,
    disabled: disabled && { ...disabled, at: toIsoMs(disabled.at) },
    previous_secret_until: until !== null && Date.parse(until) > nowMs ? toIsoMs(until) : null,
    created_at: toIsoMs(webhook.created_at),
    updated_at: toIsoMs(webhook.updated_at),
  }
}
