/** The bodies that webhooks get, one schema an event kind; published for receivers. */
import type { FromSchema } from 'json-schema-to-ts'
import { usBands } from '../../core/air/index/us-bands.ts'
import type { EventKind } from '../../core/delivery/delivery.ts'

const time = { type: 'string', description: 'ISO 8601, UTC', pattern: 'Z$' } as const
const sensor = { type: 'string', description: 'canonical id of the sensor' } as const
const location = { type: 'string', description: 'address of the sensor' } as const
const aqi = { type: 'integer', minimum: 0, maximum: 500 } as const
const valueOrNull = { type: ['number', 'null'] } as const

const measurements = {
  type: 'object',
  additionalProperties: false,
  required: ['pm25', 'pm10', 'co2', 'temperature', 'humidity'],
  properties: {
    pm25: valueOrNull,
    pm10: valueOrNull,
    co2: valueOrNull,
    temperature: valueOrNull,
    humidity: valueOrNull,
  },
} as const

const category = { enum: usBands.map((band) => band.category) } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$', description: 'leaf' } as const

const rise = {
  type: 'object',
  additionalProperties: false,
  required: [
    'sensor_id',
    'aqi',
    'location',
    'measurements',
    'aqi_category',
    'threshold',
    'previous_aqi',
    'hash',
  ],
  properties: {
    sensor_id: sensor,
    aqi,
    location,
    measurements,
    aqi_category: category,
    threshold: { type: 'number', description: 'the index rose above it' },
    previous_aqi: { type: ['integer', 'null'] },
    hash,
  },
} as const

const offline = {
  type: 'object',
  additionalProperties: false,
  required: ['sensor_id', 'location', 'last_reading', 'offline_since', 'silence_seconds'],
  properties: {
    sensor_id: sensor,
    location,
    last_reading: time,
    offline_since: time,
    silence_seconds: { type: 'integer', minimum: 0 },
  },
} as const

const online = {
  type: 'object',
  additionalProperties: false,
  required: ['sensor_id', 'location', 'last_reading', 'downtime_seconds'],
  properties: {
    sensor_id: sensor,
    location,
    last_reading: time,
    downtime_seconds: { type: ['integer', 'null'], description: 'null: never heard before' },
  },
} as const

const reading = {
  type: 'object',
  additionalProperties: false,
  required: ['sensor_id', 'location', 'aqi', 'aqi_category', 'measurements', 'hash'],
  properties: {
    sensor_id: sensor,
    location,
    aqi: { type: ['integer', 'null'] },
    aqi_category: { type: ['string', 'null'], enum: [...category.enum, null] },
    measurements,
    hash,
  },
} as const

const payload = <const Kind extends EventKind, const Data>(kind: Kind, data: Data) =>
  ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `airproof/webhook/${kind}`,
    title: `Body of ${kind}`,
    type: 'object',
    additionalProperties: false,
    required: ['event', 'timestamp', 'data'],
    properties: { event: { const: kind }, timestamp: time, data },
  }) as const

export const payloadSchemas = {
  'aqi.high': payload('aqi.high', rise),
  'aqi.critical': payload('aqi.critical', rise),
  'sensor.offline': payload('sensor.offline', offline),
  'sensor.online': payload('sensor.online', online),
  'reading.new': payload('reading.new', reading),
} as const satisfies Record<EventKind, object>

export type RiseData = FromSchema<typeof rise>
export type OfflineData = FromSchema<typeof offline>
export type OnlineData = FromSchema<typeof online>
export type ReadingData = FromSchema<typeof reading>

export type WebhookPayload = {
  readonly event: EventKind
  readonly timestamp: string
  readonly data: RiseData | OfflineData | OnlineData | ReadingData
}
