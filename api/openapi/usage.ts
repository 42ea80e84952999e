/** /v1/usage and /v1/stream: parts of the document in `document.ts`. */
import { streamEventNames } from '../stream/event-names.ts'
import {
  answer,
  arrayOf,
  failures,
  integer,
  json,
  object,
  oneOf,
  type Parameter,
  query,
  read,
  ref,
  success,
  text,
  time,
  timeOrNull,
} from './parts.ts'

const quota = { limit: integer, used: integer, remaining: integer, reset: time } as const

export const usageSchemas = {
  Usage: object({
    status: success,
    tier: oneOf(['free', 'premium']),
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
          hint: { ...text, description: 'the first characters of the key' },
          last_used_at: { ...timeOrNull, description: 'to the minute; null: never' },
        }),
      ),
      description: 'those that are valid now',
    },
  }),
} as const

export const streamSchemas = {
  StreamToken: object({
    status: success,
    token: { ...text, description: 'opens streams, as `token` of /v1/stream' },
    url: { ...text, description: 'the stream with it, as a path on this server' },
    expires_at: { ...time, description: 'until when a stream can be opened; an open one goes on' },
  }),
} as const

export const usagePaths = {
  '/v1/usage': {
    get: {
      operationId: 'showUsage',
      tags: ['account'],
      summary: 'What your account has used of its quota',
      description: 'Not charged to the day, only to the minute.',
      responses: { ...read('the usage', json(ref('Usage'))), ...failures() },
    },
  },
} as const

export const streamPaths = (area: Parameter, box: Parameter) =>
  ({
    '/v1/stream/token': {
      post: {
        operationId: 'makeStreamToken',
        tags: ['stream'],
        summary: 'A token for a page, whose EventSource cannot send a key',
        description:
          'Opens streams for 60 seconds and nothing else, and is revoked with its key. Not charged to the day, only to the minute.',
        responses: { '200': answer('the token', json(ref('StreamToken'))), ...failures(404) },
      },
    },
    '/v1/stream': {
      get: {
        operationId: 'stream',
        tags: ['stream'],
        summary: 'What happens, as it happens: server-sent events',
        description: `Events: ${streamEventNames.join(', ')}; the data of reading and reading.late is a Reading. Each connection costs one request of the quota. A page may send \`token\` instead of a key.`,
        security: [{ key: [] }, {}],
        parameters: [
          query('sensor_id', { ...text, minLength: 1 }, 'of this sensor only', {
            example: 'NGR-LOS-IKJ-017',
          }),
          area,
          box,
          query(
            'last_event_id',
            text,
            'continue after this event; wins over the header Last-Event-ID',
          ),
          query('token', text, 'of /v1/stream/token, instead of a key', { example: 'aqs_v1.…' }),
          {
            name: 'Last-Event-ID',
            in: 'header',
            required: false,
            schema: text,
            description: 'continue after this event; EventSource sends it by itself',
          },
        ],
        responses: {
          '200': answer('events without end', { 'text/event-stream': { schema: text } }),
          ...failures(404),
        },
      },
    },
  }) as const
