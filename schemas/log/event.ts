import type { FromSchema } from 'json-schema-to-ts'
import { levelOfNames, qualityLevels } from '../../core/air/quality-level.ts'
import { criticalAqi } from '../../core/air/thresholds.ts'
import type { EventPlace, Matched, WebhookIndex } from '../../core/delivery/webhook-match.ts'
import { checkOf } from '../check.ts'
import { asVersion1 } from '../formats.ts'
import { measurements } from '../measured.ts'

const time = { type: 'string', description: 'ISO 8601, UTC' } as const

const reading = {
  type: 'object',
  additionalProperties: false,
  required: ['seq', 'timestamp', 'measurements', 'aqi', 'quality', 'hash'],
  properties: {
    seq: { type: 'integer' },
    timestamp: time,
    measurements,
    aqi: { type: ['integer', 'null'] },
    quality: { type: 'array', items: { type: 'string' } },
    hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$', description: 'the leaf of the reading' },
  },
} as const

const common = {
  id: { type: 'string', description: '<READINGS sequence>-<place>: ids of a subject are ordered' },
  sensor_id: { type: 'string' },
  timestamp: time,
  area: { type: 'string' },
  address: { type: 'string' },
} as const
const commonRequired = ['id', 'kind', 'sensor_id', 'timestamp', 'area', 'address'] as const

/** A message of EVENTS: a copy of what the log decided, complete in itself. */
export const eventSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/event',
  title: 'Event',
  oneOf: [
    {
      type: 'object',
      additionalProperties: false,
      required: [...commonRequired, 'from', 'to', 'previous_aqi', 'reading'],
      properties: {
        ...common,
        kind: { const: 'rise' },
        from: { type: 'integer', description: 'fires for thresholds from ≤ t < to' },
        to: { type: 'integer' },
        previous_aqi: { type: ['integer', 'null'] },
        reading,
      },
    },
    {
      type: 'object',
      additionalProperties: false,
      required: [...commonRequired, 'offline_since', 'downtime_seconds', 'reading'],
      properties: {
        ...common,
        kind: { const: 'online' },
        offline_since: { type: ['string', 'null'] },
        downtime_seconds: {
          type: ['integer', 'null'],
          description: 'null: heard for the first time',
        },
        reading,
      },
    },
    {
      type: 'object',
      additionalProperties: false,
      required: [...commonRequired, 'last_reading', 'offline_since', 'silence_seconds'],
      properties: {
        ...common,
        kind: { const: 'offline' },
        last_reading: time,
        offline_since: time,
        silence_seconds: { type: 'integer' },
      },
    },
    {
      type: 'object',
      additionalProperties: false,
      required: [...commonRequired, 'level', 'previous_level', 'reading'],
      properties: {
        ...common,
        kind: { const: 'quality' },
        level: { type: 'string', enum: qualityLevels, description: 'of the sensor from now on' },
        previous_level: { type: 'string', enum: qualityLevels },
        reading,
      },
    },
  ],
} as const

export type AirEvent = FromSchema<typeof eventSchema>

const isEvent = checkOf<AirEvent>(eventSchema)
const decoder = new TextDecoder()

/** The event, or in words why the bytes are not one. @throws NewerFormat */
export function parseEvent(data: Uint8Array): AirEvent | string {
  let json: unknown
  try {
    json = JSON.parse(decoder.decode(data))
  } catch {
    return 'it is not JSON'
  }
  const value = asVersion1('event', json)
  if (isEvent(value)) return value
  const [first] = isEvent.errors ?? []
  return `it is not an event: ${first?.instancePath ?? ''} ${first?.message ?? ''}`
}

/** Which webhooks an event of the log concerns: for deliveries, and for what would have been one. */
export function matchEvent(event: AirEvent, index: WebhookIndex, on: Matched): void {
  const place = { sensor: event.sensor_id, area: event.area }
  switch (event.kind) {
    case 'rise':
      return matchRise(event, { ...place, level: levelOfNames(event.reading.quality) }, index, on)
    case 'online':
      return index.match('sensor.online', place, 0, on)
    case 'offline':
      return index.match('sensor.offline', place, 0, on)
    case 'quality':
      return index.match('sensor.quality', place, 0, on)
  }
}

export function matchRise(
  event: { readonly from: number; readonly to: number },
  place: EventPlace,
  index: WebhookIndex,
  on: Matched,
): void {
  index.rise(place, event, on)
  if (event.from <= criticalAqi && criticalAqi < event.to) index.match('aqi.critical', place, 0, on)
}
