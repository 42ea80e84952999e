/** Ends a webhook in its bucket, where everybody sees it; its owner enables it again by the API. */

import type { KV } from '@nats-io/kv'
import { formatIso } from '../../core/iso-time.ts'
import { jsonOf } from '../../runtime/nats/read-entry.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'

type Reason = NonNullable<Webhook['disabled']>['reason']

const tries = 5

type Disabling = {
  readonly reason: Reason
  readonly detail: string
  readonly atMs: number
  /**
   * Called with the webhook that is about to be disabled. Killed after it, whoever comes next finds
   * the webhook active, and tells the same thing again, with the same id.
   */
  readonly tell: (webhook: Webhook) => Promise<void>
}

/** @returns whether it was we who disabled it */
export async function disableWebhook(
  kv: KV,
  id: string,
  { reason, detail, atMs, tell }: Disabling,
): Promise<boolean> {
  for (let i = 0; i < tries; i++) {
    const entry = await kv.get(id)
    const webhook = parseWebhook(jsonOf(entry))
    if (entry === null || webhook === undefined || !webhook.active) return false
    await tell(webhook)
    const at = formatIso(atMs)
    const disabled = { reason, at, detail: detail.slice(0, 300) }
    const next: Webhook = { ...webhook, active: false, disabled, updated_at: at }
    try {
      await kv.update(id, JSON.stringify(next), entry.revision)
      return true
    } catch {
      // somebody changed it meanwhile: look again
    }
  }
  return false
}
