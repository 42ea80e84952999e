import type { FromSchema } from 'json-schema-to-ts'
import { checkOf } from '../check.ts'

/** A sensor's last contacts with the gate: bucket `seen`, key = id. Times are ISO 8601. */
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
        client: {
          type: 'string',
          description: 'library or firmware and version, as it reports them',
        },
      },
    },
    left: {
      type: 'object',
      description: 'when its last connection ended, and the server’s reason',
      required: ['at', 'reason'],
      properties: { at: { type: 'string' }, reason: { type: 'string' } },
    },
    refused: {
      type: 'object',
      description: 'refused sign-ins: how many ever, and the last one',
      required: ['count', 'at', 'reason'],
      properties: {
        count: { type: 'integer' },
        at: { type: 'string' },
        reason: { type: 'string' },
      },
    },
    denied: {
      type: 'object',
      description: 'denied publishes and subscriptions: how many ever, and the last one',
      required: ['count', 'at'],
      properties: { count: { type: 'integer' }, at: { type: 'string' } },
    },
    paused_until: {
      type: 'string',
      description: 'it flooded: its sign-ins are refused until then',
    },
  },
} as const

export type Seen = FromSchema<typeof seenSchema>

const isSeen = checkOf<Seen>(seenSchema)

export const parseSeen = (value: unknown): Seen | undefined => (isSeen(value) ? value : undefined)
