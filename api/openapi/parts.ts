/** Building blocks of the OpenAPI document. */

export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
/** Always three decimals, so that texts sort as times do and every reader infers one format. */
const isoPattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$'
export const time = {
  type: 'string',
  format: 'date-time',
  pattern: isoPattern,
  description: 'ISO 8601, UTC, with milliseconds',
} as const
export const timeOrNull = { ...time, type: ['string', 'null'] } as const
/** A time that a caller gives. */
export const timeGiven = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601 between 1970 and 2200; without an offset it is UTC',
} as const
export const number = { type: 'number' } as const
export const numberOrNull = { type: ['number', 'null'] } as const
export const integer = { type: 'integer' } as const
export const integerOrNull = { type: ['integer', 'null'] } as const
export const yes = { type: 'boolean' } as const
export const hash = { ...text, pattern: '^0x[0-9a-f]{64}$' } as const
export const success = { type: 'string', const: 'success' } as const
export const cursor = { ...textOrNull, description: 'null: this is the last page' } as const

export const object = <
  const P extends Readonly<Record<string, object>>,
  const O extends Readonly<Record<string, object>> = Readonly<Record<never, object>>,
>(
  properties: P,
  optional?: O,
) =>
  ({
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  }) as const
export const arrayOf = <const I extends object>(items: I) => ({ type: 'array', items }) as const
export const nullable = <const S extends object>(schema: S) =>
  ({ oneOf: [schema, { type: 'null' }] }) as const
export const oneOf = <const V extends readonly string[]>(values: V) =>
  ({ type: 'string', enum: values }) as const

const refTo = (kind: string) => (name: string) =>
  ({ $ref: `#/components/${kind}/${name}` }) as const
export const ref = refTo('schemas')

/** As it is in the document. */
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: object
  readonly description: string
}
type More = { readonly example?: string | number; readonly required?: boolean }
export const query = (
  name: string,
  schema: object,
  description: string,
  { required = false, ...example }: More = {},
) => ({ name, in: 'query', required, schema, description, ...example }) as const
export const path = (name: string, description: string, example: string) =>
  ({ name, in: 'path', required: true, schema: text, description, example }) as const
export const sensorInPath = path(
  'sensor_id',
  'the id, or its short form such as NGR-LOS-017 if only one sensor has that number',
  'NGR-LOS-IKJ-017',
)
export const header = (name: string, schema: object, description: string, example: string) =>
  ({ name, in: 'header', required: false, schema, description, example }) as const

export const json = (schema: object) => ({ 'application/json': { schema } }) as const
const headersOf = (names: readonly string[]) => ({
  headers: Object.fromEntries(names.map((name) => [name, refTo('headers')(name)])),
})

/** The headers of every answer to a request with a key. */
export const standingHeaders = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const

type Content = Readonly<Record<string, { readonly schema: object }>>

/** A successful answer. @param more headers in addition to those of every answer */
export const answer = (
  description: string,
  content: Content,
  {
    more = [],
    isOpen = false,
  }: { readonly more?: readonly string[]; readonly isOpen?: boolean } = {},
) => ({
  description,
  ...headersOf(['X-Request-Id', ...(isOpen ? [] : standingHeaders), ...more]),
  content,
})

/** What a GET answers, and to a client that has it already. */
export const read = (...[description, content, rest]: Parameters<typeof answer>) => ({
  '200': answer(description, content, { ...rest, more: ['ETag', ...(rest?.more ?? [])] }),
  '304': { description: 'as If-None-Match has it' },
})

/** Errors that any request may get. */
const always = [400, 405, 406, 408, 414, 431, 500] as const
const withKey = [401, 429, 503] as const

/** Failures by their status; `failures` for those with a key. */
export const openFailures = (...statuses: readonly number[]) =>
  Object.fromEntries(
    [...always, ...statuses].map((status) => [String(status), refTo('responses')(String(status))]),
  )
export const failures = (...statuses: readonly number[]) => openFailures(...withKey, ...statuses)
