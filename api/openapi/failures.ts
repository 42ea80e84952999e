/** What every failure looks like, and the headers of answers: parts of the OpenAPI document. */
import { apiErrors } from '../http/api-errors.ts'
import { arrayOf, integer, object, ref, standingHeaders, text, textOrNull, time } from './parts.ts'

const codes = Object.entries(apiErrors)

const code = {
  ...text,
  description: `for programs; more may be added. ${codes.map(([name]) => name).join(', ')}`,
} as const
const requestId = { ...text, format: 'uuid', description: 'as in the header X-Request-Id' } as const
const texts = arrayOf(text)

export const failureSchemas = {
  Error: {
    ...object({
      status: { type: 'string', const: 'error' },
      error: object({
        code,
        message: { ...text, description: 'for people: what is wrong and what to do' },
        details: ref('ErrorDetails'),
      }),
      request_id: requestId,
    }),
    examples: [
      {
        status: 'error',
        error: {
          code: 'bad_parameter',
          message: 'limit must be a whole number from 1 to 1000',
          details: { parameter: 'limit', given: '0', expected: 'a whole number from 1 to 1000' },
        },
        request_id: '0b9c1c3e-7f0a-4d3c-9a43-1a6a4f5f2f6e',
      },
    ],
  },
  Problem: {
    ...object({
      type: { type: 'string', const: 'about:blank' },
      title: text,
      status: integer,
      detail: { ...text, description: 'for people: what is wrong and what to do' },
      code,
      details: ref('ErrorDetails'),
      request_id: requestId,
    }),
    description: 'the same as RFC 9457 problem details, if Accept asks for them',
  },
  ErrorDetails: {
    type: 'object',
    description: 'more about the error; the code decides which fields there are',
    properties: {
      parameter: text,
      given: { ...textOrNull, description: 'shortened; null: it is missing' },
      expected: { ...text, description: 'what a valid value is' },
      fields: arrayOf(
        object({
          field: { ...text, description: 'names joined by dots; `body` for the whole body' },
          given: { ...textOrNull, description: 'as JSON, shortened; null: it is missing' },
          expected: text,
        }),
      ),
      known: { ...texts, description: 'the parameters that the address accepts' },
      allowed: { ...texts, description: 'the methods that the address allows' },
      available: { ...texts, description: 'the media types, or the codings, that are available' },
      sensor_id: text,
      expected_format: text,
      candidates: texts,
      area_name: text,
      webhook_id: text,
      delivery_id: text,
      reason: text,
      reading_hash: text,
      expected_by: time,
      limit: integer,
    },
  },
} as const

const headerOf = (description: string, schema: object, example: string | number) =>
  ({ description, schema, example }) as const

export const headers = {
  'X-Request-Id': headerOf(
    'names the request in our log',
    text,
    '0b9c1c3e-7f0a-4d3c-9a43-1a6a4f5f2f6e',
  ),
  RateLimit: headerOf(
    'what is left (r) and the seconds until there is more (t)',
    text,
    '"day";r=42;t=43170, "minute";r=597;t=30',
  ),
  'RateLimit-Policy': headerOf(
    'how many requests (q) in how many seconds (w)',
    text,
    '"day";q=100;w=86400, "minute";q=600;w=60',
  ),
  'X-RateLimit-Limit': headerOf('requests per day', integer, 100),
  'X-RateLimit-Remaining': headerOf('what is left of them', integer, 42),
  'X-RateLimit-Reset': headerOf(
    'when there are new ones, in seconds since 1970',
    integer,
    1_769_904_000,
  ),
  'Retry-After': headerOf('seconds', integer, 2),
  'WWW-Authenticate': headerOf('RFC 6750', text, 'Bearer realm="airproof", error="invalid_token"'),
  Allow: headerOf('the methods that the address allows', text, 'GET, HEAD'),
  Link: headerOf(
    'the next page, as a path on this server; absent on the last',
    text,
    '</v1/sensors?limit=1&cursor=czpOR1I>; rel="next"',
  ),
  Location: headerOf(
    'of what was created, as a path on this server',
    text,
    '/v1/webhooks/wh_0000001',
  ),
  'Idempotent-Replayed': headerOf(
    'the same request was made before, and this is its answer',
    { type: 'string', const: 'true' },
    'true',
  ),
  'Airproof-More': headerOf(
    'whether the log has more already, as `more` in JSON',
    { type: 'string', enum: ['true', 'false'] },
    'false',
  ),
  'Airproof-Gap': headerOf(
    'from/to of the readings that the log does not hold any more, as `gap` in JSON; absent: nothing is missing; `..`: not known',
    text,
    '2026-01-30T08:00:00.000Z/2026-01-31T08:00:00.000Z',
  ),
  ETag: headerOf(
    'names this answer: sent back as If-None-Match it is 304 until it changes',
    text,
    '"mJ8c1xq2"',
  ),
} as const

const titles: Readonly<Record<number, string>> = {
  400: 'The request is wrong',
  401: 'The API key is missing, wrong, revoked or expired',
  403: 'The tier of the account does not have this',
  404: 'It does not exist',
  405: 'The address does not have this method',
  406: 'It is not available in a form that Accept and Accept-Encoding name',
  408: 'The request took too long to arrive',
  409: 'It conflicts with the present state',
  413: 'The body is too long',
  414: 'The address is too long',
  415: 'The body is not JSON',
  429: 'Too often: try again after Retry-After',
  431: 'The headers are too long',
  500: 'Something failed on our side',
  503: 'A service that is needed is away: try again after Retry-After',
}
const headersOf: Readonly<Record<number, readonly (keyof typeof headers)[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', ...standingHeaders],
  503: ['Retry-After'],
}

/** By status: when it is answered, with every code it may have. */
export const failureResponses = Object.fromEntries(
  [...Map.groupBy(codes, ([, [status]]) => status)].map(([status, ofStatus]) => [
    String(status),
    {
      description: `${titles[status]}. ${ofStatus.map(([name, [, when]]) => `\`${name}\`: ${when}.`).join(' ')}`,
      headers: Object.fromEntries(
        ['X-Request-Id', ...(headersOf[status] ?? [])].map((name) => [
          name,
          { $ref: `#/components/headers/${name}` },
        ]),
      ),
      content: {
        'application/json': { schema: ref('Error') },
        'application/problem+json': { schema: ref('Problem') },
      },
    },
  ]),
)
