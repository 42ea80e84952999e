/** /v1/webhooks for programs, and what webhooks get: parts of the document in `openapi.ts`. */
import { eventKinds, triggers } from '../core/delivery.ts'
import { defaultSignatureHeader } from '../core/signature.ts'
import { attemptErrors, attemptOutcomes, attemptSchema } from './attempt.ts'
import { webhookSchema } from './webhook.ts'
import { defaultOverlapSeconds, webhookBodySchemas } from './webhook-bodies.ts'
import { payloadSchemas } from './webhook-payload.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const time = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const
const integer = { type: 'integer' } as const
const yes = { type: 'boolean' } as const
const success = { const: 'success' } as const
const object = <const P extends Readonly<Record<string, object>>>(properties: P) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const
const arrayOf = <const I extends object>(items: I) => ({ type: 'array', items }) as const
const nullable = (schema: object) => ({ oneOf: [schema, { type: 'null' }] }) as const

const event = { enum: eventKinds } as const
const trigger = { enum: triggers } as const
const key = { ...text, description: 'what the delivery is about: another name of it' } as const
const { events, filters, disabled } = webhookSchema.properties

const webhook = {
  id: text,
  url: text,
  description: textOrNull,
  events,
  filters,
  active: { ...yes, description: 'false: nothing that happens is kept for it' },
  paused: { ...yes, description: 'true: what happens is kept, and sent when it is resumed' },
  suspended: {
    ...yes,
    description: 'true: your account is not premium; what happens is kept, and sent once it is',
  },
  disabled: nullable(disabled),
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
  outcome: { enum: attemptOutcomes },
  error: { enum: [...attemptErrors, null] },
  error_detail: textOrNull,
  next_attempt_at: timeOrNull,
} as const
const wholeAttempt = object({
  ...attempt,
  request: attemptSchema.properties.request,
  response: attemptSchema.properties.response,
  timings_ms: attemptSchema.properties.timings,
})
const tried = object({
  id: text,
  key,
  event,
  ...attempt,
  response_status: { type: ['integer', 'null'] },
  duration_ms: { type: ['number', 'null'] },
})
const waiting = object({
  id: { ...textOrNull, description: 'null: its event is not kept any more' },
  key,
  event,
  trigger,
  state: { enum: ['pending', 'in_flight', 'dead'] },
  attempts: { ...integer, description: 'made so far' },
  due_at: timeOrNull,
})

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const failure = (description: string) => ({ description, ...json(ref('Error')) })
const path = (name: string, description: string) =>
  ({ name, in: 'path', required: true, schema: text, description }) as const
const query = (name: string, schema: object, description: string) =>
  ({ name, in: 'query', required: false, schema, description }) as const
const webhookId = path('webhook_id', 'of a webhook of your account')
const deliveryId = path('delivery_id', 'the id `msg_…`, or the key of the delivery')
const takes = (schema: object, required = false) => ({ requestBody: { required, ...json(schema) } })

const answers = (
  status: '200' | '201' | '202',
  description: string,
  schema: object,
  others: Readonly<Record<string, object>> = {},
) => ({
  responses: {
    [status]: { description, ...json(schema) },
    '400': failure('something is wrong: `details` names every field and what would be right'),
    '401': failure('the API key is missing, wrong, revoked or expired'),
    '403': failure('webhooks belong to the premium tier; others see and delete what they have'),
    '404': failure('your account has no such webhook, or it no such delivery'),
    '503': failure('try again after the seconds in Retry-After'),
    ...others,
  },
})
const bodyFailures = {
  '413': failure('the body is longer than 64 KiB'),
  '415': failure('the body is not application/json'),
}
const one = object({ status: success, webhook: ref('Webhook') })
const withSecret = (more: Readonly<Record<string, object>> = {}) =>
  object({ status: success, webhook: object({ ...webhook, secret, ...more }) })

export const webhookComponents = {
  Webhook: object(webhook),
  Attempt: wholeAttempt,
} as const

export const webhookPaths = {
  '/v1/webhooks': {
    get: {
      operationId: 'listWebhooks',
      summary: 'Your webhooks, oldest first',
      ...answers(
        '200',
        'all of them, at most 20',
        object({ status: success, count: integer, webhooks: arrayOf(ref('Webhook')) }),
      ),
    },
    post: {
      operationId: 'createWebhook',
      summary: 'Make a webhook',
      description: 'The same Idempotency-Key with the same body makes one webhook within a day.',
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          schema: { ...text, pattern: '^[!-~]{1,255}$' },
          description: 'names the request, so that it can be repeated safely',
        },
      ],
      ...takes(webhookBodySchemas.create, true),
      ...answers(
        '201',
        'the webhook with its secret, which is shown now alone; armed_now is false where the latest index of a sensor is above a threshold already',
        withSecret({ armed_now: yes }),
        {
          ...bodyFailures,
          '409': failure('20 webhooks are there, or the key has made another one'),
        },
      ),
    },
  },
  '/v1/webhooks/{webhook_id}': {
    get: {
      operationId: 'showWebhook',
      summary: 'One webhook',
      parameters: [webhookId],
      ...answers('200', 'the webhook', one),
    },
    patch: {
      operationId: 'changeWebhook',
      summary: 'Change what is named, and leave the rest',
      description: 'As JSON Merge Patch (RFC 7396): null takes a filter or the description away.',
      parameters: [webhookId],
      ...takes(webhookBodySchemas.patch, true),
      ...answers('200', 'the webhook', one, {
        ...bodyFailures,
        '409': failure('the operator has disabled it'),
      }),
    },
    delete: {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook, and what waits for it',
      parameters: [webhookId],
      ...answers(
        '200',
        'it is gone',
        object({ status: success, webhook: object({ id: text, deleted: { const: true } }) }),
      ),
    },
  },
  '/v1/webhooks/{webhook_id}/pause': {
    post: {
      operationId: 'pauseWebhook',
      summary: 'Keep what happens, and send nothing',
      parameters: [webhookId],
      ...answers('200', 'the webhook', one),
    },
  },
  '/v1/webhooks/{webhook_id}/resume': {
    post: {
      operationId: 'resumeWebhook',
      summary: 'Send again, after a pause or after it was disabled',
      parameters: [webhookId],
      ...answers('200', 'the webhook', one, { '409': failure('the operator has disabled it') }),
    },
  },
  '/v1/webhooks/{webhook_id}/rotate': {
    post: {
      operationId: 'rotateSecret',
      summary: 'A new secret',
      description: `The old one goes on signing for overlap_seconds (${defaultOverlapSeconds} unless given).`,
      parameters: [webhookId],
      ...takes(webhookBodySchemas.rotate),
      ...answers('200', 'the webhook with its new secret', withSecret(), bodyFailures),
    },
  },
  '/v1/webhooks/{webhook_id}/test': {
    post: {
      operationId: 'testWebhook',
      summary: 'Send an example now',
      description: 'Of the first kind of its events, unless `event` names another.',
      parameters: [webhookId],
      ...takes(webhookBodySchemas.test),
      ...answers(
        '200',
        'what became of it',
        object({ status: success, delivery: text, attempt: ref('Attempt') }),
        { ...bodyFailures, '409': failure('it is disabled') },
      ),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries': {
    get: {
      operationId: 'listDeliveries',
      summary: 'What was tried, newest first; or what waits; or what was given up',
      description:
        'A row is an attempt; those of the last 30 days are kept, at most 5,000. A page may be short: go on until next_cursor is null.',
      parameters: [
        webhookId,
        query(
          'state',
          { enum: ['tried', 'pending', 'dead'], default: 'tried' },
          'pending and dead go with limit alone: what waits, soonest first, and what was given up',
        ),
        query('event', event, 'only these'),
        query('outcome', { enum: attemptOutcomes }, 'only these'),
        query('trigger', trigger, 'only these'),
        query('delivery', text, 'only those of this id or key'),
        query('start_time', time, 'inclusive; without an offset it is UTC'),
        query('end_time', time, 'exclusive; without an offset it is UTC'),
        query(
          'limit',
          { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
          'at most so many, 1 to 1000; 50 unless given',
        ),
        query('cursor', text, 'next_cursor of the page before'),
      ],
      ...answers('200', 'a page', {
        type: 'object',
        required: ['status', 'count', 'next_cursor', 'deliveries'],
        properties: {
          status: success,
          count: integer,
          next_cursor: textOrNull,
          deliveries: arrayOf({ oneOf: [tried, waiting] }),
          total: { ...integer, description: 'of pending and dead: all there are' },
          is_behind: { ...yes, description: 'of pending and dead: more happened than is queued' },
        },
      }),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}': {
    get: {
      operationId: 'showDelivery',
      summary: 'One delivery with its attempts, newest first',
      parameters: [webhookId, deliveryId],
      ...answers(
        '200',
        'the delivery',
        object({
          status: success,
          delivery: object({
            id: textOrNull,
            key,
            event,
            state: {
              enum: ['pending', 'in_flight', 'delivered', 'dead', 'disabled', 'cancelled'],
            },
            due_at: timeOrNull,
            attempts: arrayOf(ref('Attempt')),
          }),
        }),
      ),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay': {
    post: {
      operationId: 'replayDelivery',
      summary: 'Send one again, with the same id and bytes',
      parameters: [webhookId, deliveryId],
      ...answers(
        '202',
        'it is queued',
        object({ status: success, delivery: object({ id: text, key }) }),
        { '409': failure('the webhook is disabled') },
      ),
    },
  },
  '/v1/webhooks/{webhook_id}/recover': {
    post: {
      operationId: 'recoverWebhook',
      summary: 'Send everything since a time again, with the same ids',
      parameters: [webhookId],
      ...takes(webhookBodySchemas.recover, true),
      ...answers('202', 'it is queued', object({ status: success, since: time }), {
        ...bodyFailures,
        '409': failure('the webhook is disabled'),
      }),
    },
  },
} as const

/** What is sent to a webhook: the document's own `webhooks`. */
export const webhookCalls = Object.fromEntries(
  eventKinds.map((kind) => [
    kind,
    {
      post: {
        summary: `What a webhook with ${kind} among its events gets`,
        description: `Signed in ${defaultSignatureHeader} (hex HMAC-SHA256 of the body, key = the secret as shown) and as Standard Webhooks has it. Answer with 2xx within 15 seconds.`,
        parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
          name,
          in: 'header',
          required: true,
          schema: text,
        })),
        ...takes(payloadSchemas[kind], true),
        responses: { '2XX': { description: 'it has arrived' } },
      },
    },
  ]),
)
