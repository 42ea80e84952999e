/**
 * Requests of other processes to the owner of a shard, on `askSubject(shard)`. The reply to a change
 * is sent after its commit. No responder: no process owns the shard right now, so a retry may succeed
 * seconds later.
 */

import type { FromSchema } from 'json-schema-to-ts'
import { eventKinds, triggers } from '../../core/delivery/delivery.ts'
import { checkOf } from '../check.ts'
import type { Attempt } from './attempt.ts'

const webhook = { type: 'string', pattern: '^wh_[0-9a-hjkmnp-tv-z]{7}$' } as const
const limit = { type: 'integer', minimum: 1, maximum: 1_000 } as const

/** A `test` takes as long as an attempt may; anything else takes a commit at most. */
export const askTimeoutMs = { test: 20_000, other: 5_000 } as const

export const webhookRequestSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/webhook-request',
  title: 'Request to the owner of a shard',
  oneOf: [
    {
      type: 'object',
      description:
        'deliveries that wait for an attempt, soonest first; with `state` dead those given up',
      additionalProperties: false,
      required: ['op', 'webhook', 'state', 'limit'],
      properties: {
        op: { const: 'list' },
        webhook,
        state: { enum: ['pending', 'dead'] },
        limit,
      },
    },
    {
      type: 'object',
      description: 'send a delivery again, with the same id and bytes: pending, dead or delivered',
      additionalProperties: false,
      required: ['op', 'webhook', 'key'],
      properties: {
        op: { const: 'replay' },
        webhook,
        key: { type: 'string', description: 'natural key: `key` of an attempt or a listing' },
      },
    },
    {
      type: 'object',
      description: 'send everything again that happened since then, with the same ids',
      additionalProperties: false,
      required: ['op', 'webhook', 'since'],
      properties: {
        op: { const: 'recover' },
        webhook,
        since: { type: 'string', description: 'ISO 8601, UTC' },
      },
    },
    {
      type: 'object',
      description: 'one attempt now with an example, not in the ledger; the reply is the attempt',
      additionalProperties: false,
      required: ['op', 'webhook', 'event'],
      properties: { op: { const: 'test' }, webhook, event: { enum: eventKinds } },
    },
    {
      type: 'object',
      description: 'the state of the whole shard',
      additionalProperties: false,
      required: ['op'],
      properties: { op: { const: 'status' } },
    },
  ],
} as const

export type ShardRequest = FromSchema<typeof webhookRequestSchema>
/** A request about one webhook. */
export type WebhookRequest = Extract<ShardRequest, { webhook: string }>

export const isShardRequest = checkOf<ShardRequest>(webhookRequestSchema)

/** A delivery as its owner knows it. */
export type WaitingDelivery = {
  readonly delivery: string
  readonly key: string
  readonly event: (typeof eventKinds)[number]
  readonly trigger: (typeof triggers)[number]
  readonly state: 'pending' | 'in_flight' | 'dead'
  /** Attempts made so far. */
  readonly attempts: number
  /** When the next attempt is due; null when dead. */
  readonly due_at: string | null
}

export type ShardStatus = {
  /** Deliveries that wait for an attempt, and those that were given up and are kept for a replay. */
  readonly pending: number
  readonly dead: number
  /** Endpoints whose breaker is open. */
  readonly in_breaker: number
  /** How long the oldest sendable delivery has been due; 0: there is none. */
  readonly oldest_due_seconds: number
}

export type WebhookReply =
  | {
      readonly ok: true
      readonly op: 'list'
      readonly total: number
      readonly deliveries: readonly WaitingDelivery[]
      /** More than 20,000 wait: the rest will be read from the streams again. */
      readonly is_behind: boolean
    }
  | { readonly ok: true; readonly op: 'replay'; readonly delivery: string }
  | { readonly ok: true; readonly op: 'recover' }
  | { readonly ok: true; readonly op: 'test'; readonly attempt: Attempt }
  | { readonly ok: true; readonly op: 'status'; readonly status: ShardStatus }
  | { readonly ok: false; readonly code: AskRefusal; readonly message: string }

export const askRefusals = [
  /** The request is invalid. */
  'bad_request',
  /** No such webhook, or it belongs to another shard. */
  'unknown_webhook',
  /** The key's event is no longer in a stream, or never was. */
  'unknown_delivery',
  /** The webhook is disabled: enable it first. */
  'disabled',
  /** The shard is being taken over, or is waiting for NATS: try again. */
  'busy',
] as const
export type AskRefusal = (typeof askRefusals)[number]
