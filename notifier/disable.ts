/** Ends a webhook in its bucket, where everybody sees it; its owner enables it again by the API. */
import type { KV } from '@nats-io/kv'
import { formatIso } from '../core/iso-time.ts'
import { parseWebhook, type Webhook } from '../schemas/webhook.ts'

type Reason = NonNullable<Webhook['disabled']>['reason']

const tries = 5

/** @returns whether it was we who disabled it */
export async function disableWebhook(
  kv: KV,
  id: string,
  { reason, detail, atMs }: { reason: Reason; detail: string; atMs: number },
): Promise<boolean> {
  for (let i = 0; i < tries; i++) {
    const entry = await kv.get(id)
    if (entry === null || entry.operation !== 'PUT') return false
    const webhook = parseWebhook(JSON.parse(entry.string()))
    if (webhook === undefined || !webhook.active) return false
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
