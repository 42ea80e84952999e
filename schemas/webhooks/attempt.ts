import type { FromSchema } from 'json-schema-to-ts'
import { eventKinds, triggers } from '../../core/delivery/delivery.ts'
import { checkOf } from '../check.ts'

const time = { type: 'string', description: 'ISO 8601, UTC' } as const
const ms = { type: ['number', 'null'], description: 'ms; null: not reached' } as const
const headers = {
  type: 'array',
  description: 'name and value, in the order of the wire',
  // one schema for both: JSON Schema of 2020 and that of draft 7 write tuples differently
  items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
} as const

/** Why an attempt did not end with a 2xx response. */
export const attemptErrors = [
  'status',
  'dns',
  'blocked_address',
  'connect',
  'connect_timeout',
  'tls',
  'timeout',
  'protocol',
  'closed',
  'secret',
  'url',
  'cancelled',
] as const
export type AttemptError = (typeof attemptErrors)[number]

/** The result of the attempt for its delivery. */
export const attemptOutcomes = ['delivered', 'retry', 'dead', 'disabled', 'cancelled'] as const

/** A message of ATT, subject `att.<webhook>`: for people, not for recovery. */
export const attemptSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/attempt',
  title: 'Attempt',
  type: 'object',
  additionalProperties: false,
  required: [
    'delivery',
    'key',
    'webhook',
    'event',
    'trigger',
    'attempt',
    'at',
    'outcome',
    'error',
    'error_detail',
    'next_attempt_at',
    'request',
    'response',
    'timings',
  ],
  properties: {
    delivery: { type: 'string', description: "`webhook-id`: the delivery's id, over all attempts" },
    key: { type: 'string', description: 'the natural key, for requests to the owner' },
    webhook: { type: 'string' },
    event: { enum: eventKinds },
    trigger: { enum: triggers },
    attempt: { type: 'integer', minimum: 1, description: '1 is the first' },
    at: time,
    outcome: { enum: attemptOutcomes },
    error: { enum: [...attemptErrors, null] },
    error_detail: { type: ['string', 'null'], maxLength: 300 },
    next_attempt_at: { type: ['string', 'null'] },
    request: {
      type: 'object',
      additionalProperties: false,
      required: ['url', 'address', 'headers', 'body_bytes', 'body'],
      properties: {
        url: { type: 'string' },
        address: { type: ['string', 'null'], description: 'the address that was dialled' },
        headers,
        body_bytes: { type: 'integer' },
        body: { type: 'string' },
      },
    },
    response: {
      type: ['object', 'null'],
      additionalProperties: false,
      required: ['status', 'headers', 'body', 'body_encoding', 'truncated'],
      properties: {
        status: { type: 'integer' },
        headers,
        body: { type: 'string', description: 'the first 8 KiB' },
        body_encoding: { enum: ['utf8', 'base64'] },
        truncated: { type: 'boolean' },
      },
    },
    timings: {
      type: 'object',
      additionalProperties: false,
      required: ['resolve', 'connect', 'first_byte', 'total'],
      properties: { resolve: ms, connect: ms, first_byte: ms, total: ms },
    },
  },
} as const

export type Attempt = FromSchema<typeof attemptSchema>

export const isAttempt = checkOf<Attempt>(attemptSchema)
