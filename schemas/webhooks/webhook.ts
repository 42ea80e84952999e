import type { FromSchema } from 'json-schema-to-ts'
import { qualityLevels } from '../../core/air/quality-level.ts'
import { eventKinds } from '../../core/delivery/delivery.ts'
import { checkOf } from '../check.ts'

const time = { type: 'string', description: 'ISO 8601, UTC' } as const
const sealed = {
  type: 'string',
  description: 'sealed by `runtime/secrets/seal-secret.ts`',
} as const

/** What a webhook subscribes to; the API's requests use the same parts. */
export const webhookEventsSchema = {
  type: 'array',
  minItems: 1,
  maxItems: eventKinds.length,
  uniqueItems: true,
  items: { enum: eventKinds },
} as const

export const webhookFiltersSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    sensor_id: { type: 'string', maxLength: 64, description: 'canonical' },
    area: { type: 'string', minLength: 1, maxLength: 80, description: 'name or slug, any case' },
    aqi_threshold: { type: 'number', minimum: 0, exclusiveMaximum: 500 },
    min_quality: {
      type: 'string',
      enum: qualityLevels,
      description: 'events about a reading only if it is at least so good',
    },
  },
} as const

/**
 * Bucket `webhooks`, key = id. Written by the API and the command line; the notifier writes only
 * `active` and `disabled`. All by CAS.
 */
export const webhookSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/webhook',
  title: 'Webhook',
  type: 'object',
  required: [
    'id',
    'account',
    'url',
    'events',
    'filters',
    'active',
    'paused',
    'secrets',
    'created_at',
    'updated_at',
  ],
  properties: {
    id: { type: 'string', pattern: '^wh_[0-9a-hjkmnp-tv-z]{7}$' },
    account: { type: 'string' },
    url: { type: 'string', maxLength: 2048, description: 'as WHATWG parsing writes it' },
    description: { type: 'string', maxLength: 200 },
    events: webhookEventsSchema,
    filters: webhookFiltersSchema,
    active: {
      type: 'boolean',
      description: 'false: events are skipped, and waiting deliveries keep waiting; see `disabled`',
    },
    paused: { type: 'boolean', description: 'true: events are queued, but nothing is sent' },
    disabled: {
      type: 'object',
      required: ['reason', 'at'],
      properties: {
        reason: { enum: ['gone', 'failing', 'operator'] },
        at: time,
        detail: { type: 'string', maxLength: 300 },
      },
    },
    secrets: {
      type: 'object',
      required: ['current'],
      properties: {
        current: sealed,
        previous: {
          type: 'object',
          description: 'during a rotation: the one that receivers still use',
          required: ['sealed', 'until'],
          properties: { sealed, until: time },
        },
      },
    },
    created_at: time,
    updated_at: time,
  },
} as const

export type Webhook = FromSchema<typeof webhookSchema>
export type WebhookFilters = FromSchema<typeof webhookFiltersSchema>

const isWebhook = checkOf<Webhook>(webhookSchema)

/** @returns undefined if the record is invalid: it gets no deliveries */
export const parseWebhook = (value: unknown): Webhook | undefined =>
  isWebhook(value) ? value : undefined
