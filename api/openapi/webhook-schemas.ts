/** Answers about webhooks, requests to them, and deliveries: parts of the OpenAPI document. */
import { eventKinds, triggers } from '../../core/delivery/delivery.ts'
import { attemptErrors, attemptOutcomes, attemptSchema } from '../../schemas/webhooks/attempt.ts'
import { webhookSchema } from '../../schemas/webhooks/webhook.ts'
import { webhookBodySchemas } from '../../schemas/webhooks/webhook-bodies.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import {
  arrayOf,
  cursor,
  integer,
  integerOrNull,
  nullable,
  numberOrNull,
  object,
  oneOf,
  ref,
  success,
  text,
  textOrNull,
  time,
  timeOrNull,
  yes,
} from './parts.ts'

export const event = oneOf(eventKinds)
export const trigger = oneOf(triggers)
export const outcome = oneOf(attemptOutcomes)
const key = {
  ...text,
  description: 'names the event and webhook of the delivery: an alternative to its id',
} as const
const { events, filters, disabled } = webhookSchema.properties

const webhook = {
  id: text,
  url: text,
  description: textOrNull,
  events,
  filters,
  active: { ...yes, description: 'false: events are not queued for it' },
  paused: { ...yes, description: 'true: events are queued, and sent when it is resumed' },
  suspended: {
    ...yes,
    description: 'true: your account is not premium; events are queued, and sent once it is',
  },
  disabled: nullable({ ...disabled, properties: { ...disabled.properties, at: time } }),
  previous_secret_until: { ...timeOrNull, description: 'while two secrets sign' },
  created_at: time,
  updated_at: time,
} as const
const secret = {
  ...text,
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  description: 'shown now and never again',
} as const

const attempt = {
  attempt: integer,
  trigger,
  at: time,
  outcome,
  error: nullable(ref('AttemptError')),
  error_detail: textOrNull,
  next_attempt_at: timeOrNull,
} as const
const { request, response, timings } = attemptSchema.properties

export const webhookSchemas = {
  AttemptError: oneOf(attemptErrors),
  Webhook: object(webhook),
  Webhooks: object({ status: success, count: integer, webhooks: arrayOf(ref('Webhook')) }),
  OneWebhook: object({ status: success, webhook: ref('Webhook') }),
  CreatedWebhook: object({
    status: success,
    webhook: object({
      ...webhook,
      secret,
      armed_now: {
        ...yes,
        description:
          'false: the index of a sensor rose above a threshold already, and further rises are not sent until two readings in a row are 10 or more below it',
      },
    }),
  }),
  WebhookWithSecret: object({ status: success, webhook: object({ ...webhook, secret }) }),
  DeletedWebhook: object({
    status: success,
    webhook: object({ id: text, deleted: { type: 'boolean', const: true } }),
  }),
  Attempt: object({ ...attempt, request, response, timings_ms: timings }),
  TestedWebhook: object({ status: success, delivery: text, attempt: ref('Attempt') }),
  TriedDelivery: object({
    id: text,
    key,
    event,
    ...attempt,
    response_status: integerOrNull,
    duration_ms: numberOrNull,
  }),
  WaitingDelivery: object({
    id: { ...textOrNull, description: 'null: its event is not stored any more' },
    key,
    event,
    trigger,
    state: oneOf(['pending', 'in_flight', 'dead']),
    attempts: { ...integer, description: 'made so far' },
    due_at: timeOrNull,
  }),
  DeliveriesPage: object(
    {
      status: success,
      count: integer,
      next_cursor: cursor,
      deliveries: arrayOf({ oneOf: [ref('TriedDelivery'), ref('WaitingDelivery')] }),
    },
    {
      total: { ...integer, description: 'with state=pending or dead: how many there are in total' },
      is_behind: {
        ...yes,
        description: 'with state=pending or dead: some events are not queued yet',
      },
    },
  ),
  OneDelivery: object({
    status: success,
    delivery: object({
      id: textOrNull,
      key,
      event,
      state: oneOf(['pending', 'in_flight', 'delivered', 'dead', 'disabled', 'cancelled']),
      due_at: timeOrNull,
      attempts: arrayOf(ref('Attempt')),
    }),
  }),
  QueuedDelivery: object({ status: success, delivery: object({ id: text, key }) }),
  QueuedRecovery: object({ status: success, since: time }),
  NewWebhook: {
    ...webhookBodySchemas.create,
    examples: [
      {
        url: 'https://example.org/air',
        events: ['aqi.high', 'sensor.offline'],
        filters: { area: 'Ikeja', aqi_threshold: 120 },
      },
    ],
  },
  WebhookPatch: { ...webhookBodySchemas.patch, examples: [{ description: 'our alarm' }] },
  Rotation: { ...webhookBodySchemas.rotate, examples: [{ overlap_seconds: 3_600 }] },
  TestRequest: { ...webhookBodySchemas.test, examples: [{ event: 'aqi.high' }] },
  Recovery: { ...webhookBodySchemas.recover, examples: [{ since: '2026-01-31T00:00:00Z' }] },
  ...Object.fromEntries(
    eventKinds.map((kind) => {
      // their own identifiers would change the base of references, and their own dialect its rules
      const { $schema: _, $id: __, ...schema } = payloadSchemas[kind]
      return [payloadName(kind), schema]
    }),
  ),
} as const

/** The component that describes the body of an event: `AqiHighPayload`. */
export function payloadName(kind: string): string {
  const words = kind.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Payload`
}
