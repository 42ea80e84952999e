import { createHash, randomInt } from 'node:crypto'
import { type WebhookId, webhookIdOf } from '../../core/delivery/webhook-id.ts'

/** At most this many ids are tried; each is taken with a chance of (webhooks ever made) / 2³². */
const mostIds = 64

/**
 * Ids to try, in order. With an idempotency key they follow from account and key, so that two
 * processes that receive the same request at once try the same id, and one of them creates.
 */
export function* candidateIds(account: string, key: string | undefined): Generator<WebhookId> {
  for (let i = 0; i < mostIds; i++) {
    yield webhookIdOf(
      key === undefined
        ? randomInt(2 ** 32)
        : createHash('sha256')
            .update(JSON.stringify([account, key, i]))
            .digest()
            .readUInt32BE(0),
    )
  }
}
