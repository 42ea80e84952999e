/** /v1/webhooks for programs, and what webhooks receive: parts of the document in `document.ts`. */
import { eventKinds } from '../../core/delivery/delivery.ts'
import { defaultSignatureHeader } from '../../runtime/webhook-signature.ts'
import { defaultOverlapSeconds } from '../../schemas/webhooks/webhook-bodies.ts'
import {
  answer,
  failures,
  header,
  json,
  oneOf,
  path,
  query,
  read,
  ref,
  text,
  timeGiven,
} from './parts.ts'
import { event, outcome, payloadName, trigger } from './webhook-schemas.ts'

const webhookId = path('webhook_id', 'of a webhook of your account', 'wh_0000001')
const deliveryId = path(
  'delivery_id',
  'the id `msg_…`, or the key of the delivery',
  'aqi.high-12-150',
)

const takes = (schema: string, { required = false } = {}) => ({
  requestBody: { required, content: json(ref(schema)) },
})

type Answered = readonly [status: '200' | '201' | '202', schema: string, description: string]
/** Errors that only this operation has, and headers of its success. */
type More = {
  readonly others?: readonly number[]
  readonly headers?: readonly string[]
  readonly isRead?: boolean
}

const answers = (
  [status, schema, description]: Answered,
  { others = [], headers = [], isRead = false }: More = {},
) => ({
  tags: ['webhooks'],
  responses: {
    ...(isRead
      ? read(description, json(ref(schema)), { more: headers })
      : { [status]: answer(description, json(ref(schema)), { more: headers }) }),
    ...failures(403, ...others),
  },
})
/** Errors of operations that read a body, even an optional one. */
const ofBody = [413, 415]
const theWebhook: Answered = ['200', 'OneWebhook', 'the webhook']

export const webhookPaths = {
  '/v1/webhooks': {
    get: {
      operationId: 'listWebhooks',
      summary: 'Your webhooks, oldest first',
      description: 'Also for an account that is not premium any more.',
      ...answers(['200', 'Webhooks', 'all of them, at most 20'], { isRead: true }),
    },
    post: {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The same Idempotency-Key with the same body creates only one webhook within a day.',
      parameters: [
        header(
          'Idempotency-Key',
          { ...text, pattern: '^[!-~]{1,255}$' },
          'names the request, so that it can be repeated safely',
          'my-first-webhook',
        ),
      ],
      ...takes('NewWebhook', { required: true }),
      ...answers(
        ['201', 'CreatedWebhook', 'the webhook with its secret, which is shown only now'],
        {
          others: [409, ...ofBody],
          headers: ['Location', 'Idempotent-Replayed'],
        },
      ),
    },
  },
  '/v1/webhooks/{webhook_id}': {
    get: {
      operationId: 'showWebhook',
      summary: 'One webhook',
      description: 'Without its secret.',
      parameters: [webhookId],
      ...answers(theWebhook, { others: [404], isRead: true }),
    },
    patch: {
      operationId: 'changeWebhook',
      summary: 'Change the given fields, and leave the others',
      // generators fail on two media types for one body, so the second is described in prose
      description:
        'As JSON Merge Patch (RFC 7396): null removes a filter or the description. May also be sent as application/merge-patch+json.',
      parameters: [webhookId],
      ...takes('WebhookPatch', { required: true }),
      ...answers(theWebhook, { others: [404, 409, ...ofBody] }),
    },
    delete: {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its waiting deliveries',
      description: 'Its id is not used again.',
      parameters: [webhookId],
      ...answers(['200', 'DeletedWebhook', 'it is deleted'], { others: [404, ...ofBody] }),
    },
  },
  '/v1/webhooks/{webhook_id}/pause': {
    post: {
      operationId: 'pauseWebhook',
      summary: 'Queue events without sending them',
      description: 'Until it is resumed.',
      parameters: [webhookId],
      ...answers(theWebhook, { others: [404, ...ofBody] }),
    },
  },
  '/v1/webhooks/{webhook_id}/resume': {
    post: {
      operationId: 'resumeWebhook',
      summary: 'Send again, after a pause or after it was disabled',
      description: 'Not if the operator has disabled it.',
      parameters: [webhookId],
      ...answers(theWebhook, { others: [404, 409, ...ofBody] }),
    },
  },
  '/v1/webhooks/{webhook_id}/rotate': {
    post: {
      operationId: 'rotateSecret',
      summary: 'A new secret',
      description: `The old secret also signs for overlap_seconds (${defaultOverlapSeconds} unless given).`,
      parameters: [webhookId],
      ...takes('Rotation'),
      ...answers(['200', 'WebhookWithSecret', 'the webhook with its new secret'], {
        others: [404, ...ofBody],
      }),
    },
  },
  '/v1/webhooks/{webhook_id}/test': {
    post: {
      operationId: 'testWebhook',
      summary: 'Send an example now',
      description: 'Of the first kind of its events, unless `event` names another.',
      parameters: [webhookId],
      ...takes('TestRequest'),
      ...answers(['200', 'TestedWebhook', 'the result of the attempt'], {
        others: [404, 409, ...ofBody],
      }),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries': {
    get: {
      operationId: 'listDeliveries',
      summary: 'Attempts, newest first; or deliveries that wait; or those that were given up',
      description:
        'A row is an attempt; those of the last 30 days are kept, at most 5,000. A page may be short: continue until next_cursor is null.',
      parameters: [
        webhookId,
        query(
          'state',
          { ...oneOf(['tried', 'pending', 'dead']), default: 'tried' },
          'pending and dead accept only limit: deliveries that wait, soonest first, and those that were given up',
        ),
        query('event', event, 'only these'),
        query('outcome', outcome, 'only these'),
        query('trigger', trigger, 'only these'),
        query('delivery', { ...text, minLength: 1 }, 'only those of this id or key'),
        query('start_time', timeGiven, 'inclusive'),
        query('end_time', timeGiven, 'exclusive, and later than start_time'),
        query(
          'limit',
          { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
          'at most this many, 1 to 1000; 50 unless given',
        ),
        query('cursor', { ...text, minLength: 1 }, 'next_cursor of the page before'),
      ],
      ...answers(['200', 'DeliveriesPage', 'a page'], {
        others: [404],
        headers: ['Link'],
        isRead: true,
      }),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}': {
    get: {
      operationId: 'showDelivery',
      summary: 'A delivery with its attempts, newest first',
      description: 'With requests and responses.',
      parameters: [webhookId, deliveryId],
      ...answers(['200', 'OneDelivery', 'the delivery'], { others: [404], isRead: true }),
    },
  },
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay': {
    post: {
      operationId: 'replayDelivery',
      summary: 'Send a delivery again, with the same id and bytes',
      description: 'Pending, given up or delivered.',
      parameters: [webhookId, deliveryId],
      ...answers(['202', 'QueuedDelivery', 'it is queued'], { others: [404, 409, ...ofBody] }),
    },
  },
  '/v1/webhooks/{webhook_id}/recover': {
    post: {
      operationId: 'recoverWebhook',
      summary: 'Send everything since a time again, with the same ids',
      description: 'As far back as events are kept.',
      parameters: [webhookId],
      ...takes('Recovery', { required: true }),
      ...answers(['202', 'QueuedRecovery', 'it is queued'], { others: [404, 409, ...ofBody] }),
    },
  },
} as const

/** What is sent to a webhook: the document's own `webhooks`. */
export const webhookCalls = Object.fromEntries(
  eventKinds.map((kind) => [
    kind,
    {
      post: {
        operationId: `receive${payloadName(kind)}`,
        tags: ['webhooks'],
        summary: `What a webhook with ${kind} among its events receives`,
        description: `Signed in ${defaultSignatureHeader} (hex HMAC-SHA256 of the body, key = the secret as shown) and as Standard Webhooks has it. Answer with 2xx within 15 seconds.`,
        security: [],
        parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
          name,
          in: 'header',
          required: true,
          schema: text,
        })),
        ...takes(payloadName(kind), { required: true }),
        responses: {
          '2XX': { description: 'it has arrived' },
          '4XX': { description: 'it is tried again later; 410 disables the webhook' },
        },
      },
    },
  ]),
)
