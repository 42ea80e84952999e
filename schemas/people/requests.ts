/** A message of REQUESTS: what one process answered an account within about a second. */
import type { FromSchema } from 'json-schema-to-ts'
import { checkOf } from '../check.ts'

/** Of a message; the requests beyond are counted as `left_out`. */
export const mostRequests = 50
/** Characters of a target. */
export const longestTarget = 500

export const requestsSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/requests',
  title: 'Requests of an account',
  type: 'object',
  required: ['requests', 'left_out'],
  properties: {
    requests: {
      type: 'array',
      maxItems: mostRequests,
      items: {
        type: 'object',
        required: ['at', 'key', 'method', 'target', 'status', 'ms'],
        properties: {
          at: { type: 'string', description: 'ISO 8601, UTC' },
          key: { type: 'string', description: 'id of the key' },
          method: { type: 'string' },
          target: { type: 'string', description: 'path and query, cut; a token is left out' },
          status: { type: 'integer' },
          ms: { type: 'integer', minimum: 0, description: 'until the answer was on its way' },
          code: { type: 'string', description: 'of an error' },
        },
      },
    },
    left_out: { type: 'integer', minimum: 0, description: 'more requests of that time' },
  },
} as const

export type Requests = FromSchema<typeof requestsSchema>
export type LoggedRequest = Requests['requests'][number]

/** Allows fields of later versions. */
export const isRequests = checkOf<Requests>(requestsSchema)
