/** The bodies of deliveries, one schema per event kind; published for receivers. */
import type { FromSchema } from 'json-schema-to-ts'
import { usBands } from '../../core/air/index/us-bands.ts'
import { qualityLevels } from '../../core/air/quality-level.ts'
import { type EventKind, mapKinds } from '../../core/delivery/delivery.ts'
import { measurements } from '../measured.ts'

const time = { type: 'string', description: 'ISO 8601, UTC', pattern: 'Z$' } as const
const sensor = { type: 'string', description: 'canonical id of the sensor' } as const
const location = { type: 'string', description: 'address of the sensor' } as const
const aqi = { type: 'integer', minimum: 0, maximum: 500 } as const
const category = { enum: usBands.map((band) => band.category) } as const
const word = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const
const hash = { ...word, description: 'leaf' } as const

const quality = {
  quality: { type: 'array', items: { type: 'string' }, description: 'flags about the values' },
  quality_level: { type: 'string', enum: qualityLevels, description: 'of the worst of the flags' },
} as const

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
    'quality',
    'quality_level',
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
    ...quality,
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
  required: [
    'sensor_id',
    'location',
    'aqi',
    'aqi_category',
    'measurements',
    'hash',
    'quality',
    'quality_level',
  ],
  properties: {
    sensor_id: sensor,
    location,
    aqi: { type: ['integer', 'null'] },
    aqi_category: { type: ['string', 'null'], enum: [...category.enum, null] },
    measurements,
    hash,
    ...quality,
  },
} as const

const sensorQuality = {
  type: 'object',
  additionalProperties: false,
  required: [
    'sensor_id',
    'location',
    'quality_level',
    'previous_level',
    'quality',
    'reading_timestamp',
    'measurements',
    'hash',
  ],
  properties: {
    sensor_id: sensor,
    location,
    quality_level: {
      type: 'string',
      enum: qualityLevels,
      description: 'of the sensor from this reading on',
    },
    previous_level: { type: 'string', enum: qualityLevels },
    quality: quality.quality,
    reading_timestamp: time,
    measurements,
    hash,
  },
} as const

const anchored = {
  type: 'object',
  additionalProperties: false,
  required: [
    'sensor_id',
    'location',
    'reading_timestamp',
    'seq',
    'hash',
    'batch_index',
    'merkle_root',
    'tx_hash',
    'block_number',
    'block_hash',
    'chain_id',
    'contract',
    'proof_url',
  ],
  properties: {
    sensor_id: sensor,
    location,
    reading_timestamp: time,
    seq: { type: 'integer', description: 'number of the reading in the log' },
    hash,
    batch_index: { type: 'integer', minimum: 1, description: 'of the batch that holds it' },
    merkle_root: word,
    tx_hash: word,
    block_number: { type: 'integer', minimum: 0 },
    block_hash: word,
    chain_id: { type: 'integer', minimum: 1 },
    contract: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
    proof_url: { type: 'string', description: 'page and bundle that prove it, for everyone' },
  },
} as const

/** The schema of `data`, by kind. */
export const dataSchemas = {
  'aqi.high': rise,
  'aqi.critical': rise,
  'sensor.offline': offline,
  'sensor.online': online,
  'reading.new': reading,
  'reading.anchored': anchored,
  'sensor.quality': sensorQuality,
} as const satisfies Record<EventKind, object>

const payload = (kind: EventKind) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: `airproof/webhook/${kind}`,
  title: `Body of ${kind}`,
  type: 'object',
  additionalProperties: false,
  required: ['event', 'timestamp', 'data'],
  properties: { event: { const: kind }, timestamp: time, data: dataSchemas[kind] },
})

export const payloadSchemas = mapKinds(payload)

export type RiseData = FromSchema<typeof rise>

type DataByKind = {
  readonly [Kind in EventKind]: FromSchema<(typeof dataSchemas)[Kind]>
}

/** The body of one kind. */
export type PayloadOf<Kind extends EventKind> = {
  readonly event: Kind
  readonly timestamp: string
  readonly data: DataByKind[Kind]
}

/** The body of any kind: `event` determines its data. */
export type WebhookPayload = { readonly [Kind in EventKind]: PayloadOf<Kind> }[EventKind]
