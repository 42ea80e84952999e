import type { FromSchema } from 'json-schema-to-ts'
import { checkOf } from '../check.ts'

/** What the gate last saw of a sensor: bucket `seen`, key = id. Times are ISO 8601. */
export const seenSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/seen',
  title: 'Seen',
  type: 'object',
  properties: {
    heard: {
      type: 'object',
      description: 'its last sign-in, or its last push over HTTP',
      required: ['at', 'protocol', 'address'],
      properties: {
        at: { type: 'string' },
        protocol: { enum: ['nats', 'mqtt', 'websocket', 'http'] },
        address: { type: 'string' },
        client: { type: 'string', description: 'library or firmware and version, as it says' },
      },
    },
    left: {
      type: 'object',
      description: 'when its last connection ended, and why, in the server’s words',
      required: ['at', 'reason'],
      properties: { at: { type: 'string' }, reason: { type: 'string' } },
    },
    refused: {
      type: 'object',
      description: 'sign-ins refused, ever; the last one of them',
      required: ['count', 'at', 'reason'],
      properties: {
        count: { type: 'integer' },
        at: { type: 'string' },
        reason: { type: 'string' },
      },
    },
    denied: {
      type: 'object',
      description: 'publishes and subscriptions beyond what is its own, ever; the last one of them',
      required: ['count', 'at'],
      properties: { count: { type: 'integer' }, at: { type: 'string' } },
    },
    paused_until: { type: 'string', description: 'it flooded, and is not let in before' },
  },
} as const

export type Seen = FromSchema<typeof seenSchema>

const isSeen = checkOf<Seen>(seenSchema)

export const parseSeen = (value: unknown): Seen | undefined => (isSeen(value) ? value : undefined)
