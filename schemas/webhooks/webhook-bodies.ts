/** The request bodies of `/v1/webhooks…`, and which of their fields are wrong. */
import type { ErrorObject, Options } from 'ajv'
import type { FromSchema } from 'json-schema-to-ts'
import { type EventKind, eventKinds } from '../../core/delivery/delivery.ts'
import { isPlainName } from '../../core/one-line.ts'
import { checkOf } from '../check.ts'
import { webhookEventsSchema, webhookFiltersSchema } from './webhook.ts'

const url = { type: 'string', minLength: 1, maxLength: 2048 } as const
/** Mails and lists show it next to other texts; descriptions from 0.1 may hold anything. */
const description = { type: 'string', maxLength: 200, format: 'plain-text' } as const
const { sensor_id, area, aqi_threshold, min_quality } = webhookFiltersSchema.properties

export const defaultOverlapSeconds = 24 * 3_600
const longestOverlapSeconds = 7 * 24 * 3_600

export const webhookBodySchemas = {
  create: {
    type: 'object',
    additionalProperties: false,
    required: ['url', 'events'],
    properties: { url, description, events: webhookEventsSchema, filters: webhookFiltersSchema },
  },
  /** Merged as in RFC 7396: null removes a field. */
  patch: {
    type: 'object',
    additionalProperties: false,
    properties: {
      url,
      description: { ...description, type: ['string', 'null'] },
      events: webhookEventsSchema,
      filters: {
        type: ['object', 'null'],
        additionalProperties: false,
        properties: {
          sensor_id: { ...sensor_id, type: ['string', 'null'] },
          area: { ...area, type: ['string', 'null'] },
          aqi_threshold: { ...aqi_threshold, type: ['number', 'null'] },
          min_quality: {
            ...min_quality,
            type: ['string', 'null'],
            enum: [...min_quality.enum, null],
          },
        },
      },
      active: { type: 'boolean' },
    },
  },
  rotate: {
    type: 'object',
    additionalProperties: false,
    properties: {
      overlap_seconds: { type: 'integer', minimum: 0, maximum: longestOverlapSeconds },
    },
  },
  test: {
    type: 'object',
    additionalProperties: false,
    properties: { event: { enum: eventKinds } },
  },
  recover: {
    type: 'object',
    additionalProperties: false,
    required: ['since'],
    properties: { since: { type: 'string', maxLength: 64 } },
  },
  nothing: { type: 'object', additionalProperties: false, properties: {} },
} as const

export type WebhookBodies = {
  readonly create: FromSchema<typeof webhookBodySchemas.create>
  readonly patch: FromSchema<typeof webhookBodySchemas.patch>
  readonly rotate: { readonly overlap_seconds?: number }
  readonly test: { readonly event?: EventKind }
  readonly recover: { readonly since: string }
  readonly nothing: object
}

const kinds = eventKinds.join(', ')

/** What each field must be; the whole body is `body`. */
const expectations: Readonly<Record<string, string>> = {
  body: 'a JSON object',
  url: 'the https address to deliver to, at most 2048 characters',
  description:
    'a text of at most 200 characters on one line, without characters that change the writing direction',
  events: `a list of one or more of ${kinds}, each once`,
  filters: 'an object with sensor_id, area, aqi_threshold or min_quality',
  'filters.sensor_id': 'the id of a sensor',
  'filters.area': 'the name of an area',
  'filters.aqi_threshold': 'a number t with 0 ≤ t < 500',
  'filters.min_quality': `one of ${min_quality.enum.join(', ')}`,
  active: 'true or false',
  overlap_seconds: `whole seconds, 0 to ${longestOverlapSeconds} (7 days)`,
  event: `one of ${kinds}`,
  since: 'an ISO 8601 time, for example 2026-01-31T08:00:00Z',
}

export type WrongField = {
  /** Its names, separated by dots; `body` for all of it. */
  readonly field: string
  /** As JSON, cut short; null: it is missing. */
  readonly given: string | null
  readonly expected: string
}

/** @param given undefined: missing */
export const wrongField = (
  field: string,
  given: unknown,
  expected = expectations[field] ?? 'left out: there is no such field',
): WrongField => ({
  field: field.slice(0, 100),
  given: given === undefined ? null : JSON.stringify(given).slice(0, 100),
  expected,
})

const options: Options = {
  allErrors: true,
  verbose: true,
  formats: { 'plain-text': (text: string) => text === '' || isPlainName(text) },
}
const checks = {
  create: checkOf<WebhookBodies['create']>(webhookBodySchemas.create, options),
  patch: checkOf<WebhookBodies['patch']>(webhookBodySchemas.patch, options),
  rotate: checkOf<WebhookBodies['rotate']>(webhookBodySchemas.rotate, options),
  test: checkOf<WebhookBodies['test']>(webhookBodySchemas.test, options),
  recover: checkOf<WebhookBodies['recover']>(webhookBodySchemas.recover, options),
  nothing: checkOf<WebhookBodies['nothing']>(webhookBodySchemas.nothing, options),
}

/** A request of these kinds without a body is a mistake. */
const needsBody = new Set<keyof WebhookBodies>(['create', 'patch', 'recover'])

export type CheckedBody<T> = { readonly body: T } | { readonly wrong: readonly WrongField[] }

/** @param sent undefined: there is no body @returns the body, or every wrong field, each once */
export function checkWebhookBody<Kind extends keyof WebhookBodies>(
  kind: Kind,
  sent: unknown,
): CheckedBody<WebhookBodies[Kind]> {
  if (sent === undefined && needsBody.has(kind)) return { wrong: [wrongField('body', sent)] }
  const check = checks[kind]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `check` has just found
  if (check(sent ?? {})) return { body: (sent ?? {}) as unknown as WebhookBodies[Kind] }
  const wrong = new Map<string, WrongField>()
  for (const error of check.errors ?? []) {
    const field = wrongFieldOf(error)
    if (!wrong.has(field.field)) wrong.set(field.field, field)
  }
  return { wrong: [...wrong.values()] }
}

function wrongFieldOf({ instancePath, keyword, params, data }: ErrorObject): WrongField {
  const names = instancePath.split('/').slice(1)
  if (keyword === 'required') {
    return wrongField([...names, String(params['missingProperty'])].join('.'), undefined)
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty'])
    const value: unknown = Object(data)[name]
    return wrongField([...names, name].join('.'), value, 'left out: there is no such field')
  }
  // a wrong entry of a list is reported as the list
  const field = names.filter((name) => !/^\d+$/.test(name)).join('.')
  return wrongField(field === '' ? 'body' : field, data)
}
