/**
 * Disables a webhook in its bucket, where every process sees it; its owner resumes it in the API.
 */

import type { KV } from '@nats-io/kv'
import { formatIso } from '../../core/iso-time.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'

type Reason = NonNullable<Webhook['disabled']>['reason']

const tries = 5

type Disabling = {
  readonly reason: Reason
  readonly detail: string
  readonly atMs: number
  /**
   * Called with the webhook that is about to be disabled. If the process is killed after this call,
   * its successor finds the webhook active and notifies again, with the same id.
   */
  readonly notify: (webhook: Webhook) => Promise<void>
}

/** @returns whether this call disabled it */
export async function disableWebhook(
  kv: KV,
  id: string,
  { reason, detail, atMs, notify }: Disabling,
): Promise<boolean> {
  for (let i = 0; i < tries; i++) {
    const entry = await kv.get(id)
    const webhook = parseWebhook(jsonOf(entry))
    if (entry === null || webhook === undefined || !webhook.active) return false
    await notify(webhook)
    const at = formatIso(atMs)
    const disabled = { reason, at, detail: detail.slice(0, 300) }
    const next: Webhook = { ...webhook, active: false, disabled, updated_at: at }
    try {
      await kv.update(id, JSON.stringify(next), entry.revision)
      return true
    } catch {
      // another process changed it meanwhile: read it again
    }
  }
  return false
}
