import type { FromSchema } from 'json-schema-to-ts'
import { measured } from '../measured.ts'

const values = measured({ type: ['number', 'null'] })

/**
 * One reading as a sensor sends it: values flat or under `measurements` (which wins where both
 * name a quantity); what is missing or null was not measured; unknown fields are ignored.
 */
export const rawReadingSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'airproof/raw-reading',
  title: 'Raw reading',
  type: 'object',
  required: ['timestamp'],
  properties: {
    sensor_id: { type: 'string', description: 'where given, the sensor of the subject' },
    timestamp: { type: 'string', description: 'ISO 8601 with an offset' },
    time_assigned: { type: 'boolean', description: 'true: a gateway stamped the arrival' },
    ...values,
    measurements: { type: 'object', properties: values },
  },
} as const

export type RawReading = FromSchema<typeof rawReadingSchema>

export const maxRawBytes = 128 * 1024
/** What a RAW stream takes, headers included: a body a little too long is kept as `too_large`. */
export const longestRawMessage = maxRawBytes + 4 * 1024
export const maxRawItems = 500
