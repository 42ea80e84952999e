import type { FromSchema } from 'json-schema-to-ts'

const site = {
  type: 'object',
  description: 'Where the sensor stands from a time on, until the next site begins.',
  additionalProperties: false,
  required: ['from', 'area', 'lat', 'lon', 'address'],
  properties: {
    from: { type: 'string', description: 'ISO 8601 with an offset' },
    area: { type: 'string', minLength: 1, maxLength: 80 },
    lat: { type: 'number', minimum: -90, maximum: 90 },
    lon: { type: 'number', minimum: -180, maximum: 180 },
    address: { type: 'string', maxLength: 200 },
  },
} as const

/** A registry entry: bucket `sensors`, key = id. */
export const sensorSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/sensor',
  title: 'Sensor',
  type: 'object',
  additionalProperties: false,
  required: ['id', 'cadence_seconds', 'sites', 'created_at'],
  properties: {
    id: { type: 'string', maxLength: 64 },
    cadence_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400,
      description: 'how often the sensor measures; three missed are silence',
    },
    sites: {
      type: 'array',
      minItems: 1,
      maxItems: 1_000,
      items: site,
      description: 'oldest first',
    },
    created_at: { type: 'string' },
  },
} as const

export type SensorEntry = FromSchema<typeof sensorSchema>
export type Site = SensorEntry['sites'][number]

export const defaultCadenceSeconds = 300
