/** Requests to the process that delivers for a webhook: only that process knows what waits. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { EventKind } from '../../core/delivery/delivery.ts'
import { shardOf, webhookNumberOf } from '../../core/delivery/webhook-id.ts'
import { askSubject } from '../../schemas/subjects.ts'
import type { Attempt } from '../../schemas/webhooks/attempt.ts'
import {
  type AskRefusal,
  askTimeoutMs,
  type WaitingDelivery,
  type WebhookReply,
  type WebhookRequest,
} from '../../schemas/webhooks/webhook-requests.ts'
import { NoDelivery, OwnerAway, WebhookDisabled } from './delivery-errors.ts'

export type Waiting = {
  /** How many there are; `deliveries` are the first of them. */
  readonly total: number
  readonly deliveries: readonly WaitingDelivery[]
  readonly is_behind: boolean
}

/**
 * Changes are durable when they resolve. All reject with OwnerAway, `replay` also with NoDelivery
 * and WebhookDisabled.
 */
export type DeliveryOwner = {
  readonly list: (
    webhook: string,
    options: { readonly state: 'pending' | 'dead'; readonly limit: number },
  ) => Promise<Waiting>
  /** @param key natural key @returns the delivery's id */
  readonly replay: (webhook: string, key: string) => Promise<string>
  /** @param since ISO 8601, UTC */
  readonly recover: (webhook: string, since: string) => Promise<void>
  readonly test: (webhook: string, event: EventKind) => Promise<Attempt>
}

export function deliveryOwner(nc: NatsConnection): DeliveryOwner {
  const call = async (request: WebhookRequest): Promise<WebhookReply & { ok: true }> => {
    const reply = await send(nc, request)
    if (reply.ok) return reply
    throw refused(reply.code, reply.message, request.op === 'replay' ? request.key : '')
  }
  return {
    list: async (webhook, { state, limit }) => {
      const reply = await call({ op: 'list', webhook, state, limit })
      return reply.op === 'list' ? reply : misunderstood(reply)
    },
    replay: async (webhook, key) => {
      const reply = await call({ op: 'replay', webhook, key })
      return reply.op === 'replay' ? reply.delivery : misunderstood(reply)
    },
    recover: async (webhook, since) => {
      const reply = await call({ op: 'recover', webhook, since })
      if (reply.op !== 'recover') misunderstood(reply)
    },
    test: async (webhook, event) => {
      const reply = await call({ op: 'test', webhook, event })
      return reply.op === 'test' ? reply.attempt : misunderstood(reply)
    },
  }
}

function refused(code: AskRefusal, message: string, delivery: string): Error {
  switch (code) {
    case 'unknown_delivery':
      return new NoDelivery(delivery, 'not_kept')
    case 'disabled':
      return new WebhookDisabled()
    case 'unknown_webhook':
    case 'busy':
      return new OwnerAway(new Error(message))
    case 'bad_request':
      return new Error(
        `the owner of the webhook's deliveries refuses the request as malformed: ${message}`,
      )
  }
}

function misunderstood(reply: WebhookReply & { ok: true }): never {
  throw new OwnerAway(new Error(`the owner sent an unexpected answer: ${reply.op}`))
}

async function send(nc: NatsConnection, request: WebhookRequest): Promise<WebhookReply> {
  const subject = askSubject(shardOf(webhookNumberOf(request.webhook) ?? 0))
  const timeout = request.op === 'test' ? askTimeoutMs.test : askTimeoutMs.other
  try {
    const message = await nc.request(subject, JSON.stringify(request), { timeout })
    return message.json<WebhookReply>()
  } catch (cause) {
    throw new OwnerAway(cause)
  }
}
