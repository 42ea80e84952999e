import type { FromSchema } from 'json-schema-to-ts'
import { type BasicName, mapQuantities, type QuantityName } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'

/**
 * What 0.1 did not know it ignored, whatever was in it: only the basic five must be numbers, and what
 * else is not a number was not measured.
 */
const values = mapQuantities(({ unit }, id) => ({
  ...(id < fewestValues && { type: ['number', 'null'] }),
  description: unit,
}))
type Value = { readonly type: readonly ['number', 'null'] }
type Values = { readonly [Name in BasicName]: Value } & {
  readonly [Name in Exclude<QuantityName, BasicName>]: Record<never, never>
}

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
    // of any type: below format level 3 it is ignored, whatever it is
    sig: { description: 'base64: the signature of its device (docs/sensors.md)' },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the map above makes them
    ...(values as unknown as Values),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    measurements: { type: 'object', properties: values as unknown as Values },
  },
} as const

export type RawReading = FromSchema<typeof rawReadingSchema>

export const maxRawBytes = 128 * 1024
/** What a RAW stream takes, headers included: a body a little too long is kept as `too_large`. */
export const longestRawMessage = maxRawBytes + 4 * 1024
export const maxRawItems = 500
