/** /v1/usage and /v1/stream for programs: parts of the document in `openapi.ts`. */
const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC' } as const
const integer = { type: 'integer' } as const
const object = <const P extends Readonly<Record<string, object>>>(properties: P) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const
const arrayOf = <const I extends object>(items: I) => ({ type: 'array', items }) as const
const query = (name: string, description: string) =>
  ({ name, in: 'query', required: false, schema: text, description }) as const
const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const quota = { limit: integer, used: integer, remaining: integer, reset: time } as const

const usage = object({
  status: { const: 'success' },
  tier: { enum: ['free', 'premium'] },
  ...quota,
  burst: { ...object(quota), description: 'the same of this minute' },
  days: {
    ...arrayOf(object({ date: { ...text, format: 'date' }, used: integer })),
    description: 'the last 30 days of UTC, today first',
  },
  keys: {
    ...arrayOf(
      object({
        id: text,
        name: text,
        hint: { ...text, description: 'its first characters' },
        last_used_at: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'to the minute; null: never',
        },
      }),
    ),
    description: 'those that are good now',
  },
})

export const usagePaths = {
  '/v1/usage': {
    get: {
      operationId: 'showUsage',
      summary: 'What your account has used of its quota',
      description: 'Not charged to the day, only to the minute.',
      responses: {
        '200': { description: 'the usage', content: { 'application/json': { schema: usage } } },
        '401': failure('the API key is missing, wrong, revoked or expired'),
        '429': failure('too many requests in this minute'),
        '503': failure('try again after the seconds in Retry-After'),
      },
    },
  },
  '/v1/stream': {
    get: {
      operationId: 'stream',
      summary: 'What happens, as it happens: server-sent events',
      description:
        'Events reading and reading.late (each like an item of /v1/readings), sensor.online, sensor.offline, gap and end. One request of the quota a connection.',
      parameters: [
        query('sensor_id', 'of this sensor only'),
        query('area', 'name, code or slug of an area in any case, or the network’s name'),
        query('bbox', 'west,south,east,north in degrees'),
        query('last_event_id', 'go on behind this event; wins over the header Last-Event-ID'),
      ],
      responses: {
        '200': {
          description: 'events without end',
          content: { 'text/event-stream': { schema: text } },
        },
        '400': failure('a parameter is wrong: `details` names it and what would be right'),
        '401': failure('the API key is missing, wrong, revoked or expired'),
        '404': failure('there is no such sensor'),
        '429': failure('the quota is used, or the account has ten streams already'),
        '503': failure('try again after the seconds in Retry-After'),
      },
    },
  },
} as const
