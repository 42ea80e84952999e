/** What a sensor sends: its schema, and bytes → raw readings, or the reason why not. */
import type { FromSchema } from 'json-schema-to-ts'
import { type BasicName, mapQuantities, type QuantityName } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'
import type { RefusalReason } from '../../core/state/log-message.ts'
import { checkOf } from '../check.ts'

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

/** `why` says in words what the reason alone does not; '' where it says all. */
export type RawFault = { readonly reason: RefusalReason; readonly why: string }

const validate = checkOf<RawReading>(rawReadingSchema)

const utf8 = new TextDecoder('utf-8', { fatal: true })
const longestWhy = 200

export const isFault = (items: readonly unknown[] | RawFault): items is RawFault =>
  !Array.isArray(items)

/** One raw message: its items, not yet looked at one by one, or why none can be read. */
export function decodeRaw(bytes: Uint8Array): readonly unknown[] | RawFault {
  if (bytes.length > maxRawBytes) {
    return { reason: 'too_large', why: `${bytes.length} bytes, at most ${maxRawBytes}` }
  }
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (error) {
    return { reason: 'not_json', why: error instanceof Error ? bounded(error.message) : '' }
  }
  if (!Array.isArray(value)) return [value]
  if (value.length === 0) return { reason: 'empty', why: '' }
  if (value.length > maxRawItems) {
    return { reason: 'too_many', why: `${value.length} readings, at most ${maxRawItems}` }
  }
  return value
}

/** Whether an item of a raw message is a raw reading; where it is none, `schemaFault` says why. */
export const isRawReading = (item: unknown): item is RawReading => validate(item)

/** What was wrong with the item `isRawReading` was asked about last. */
export function schemaFault(): RawFault {
  const [first] = validate.errors ?? []
  const path = first?.instancePath.slice(1).replaceAll('/', '.') || 'the reading'
  return { reason: 'schema', why: bounded(`${path} ${first?.message ?? 'is not valid'}`) }
}

/** The sensor of a gateway's item; '' where it names none. */
export const sensorNamed = (item: unknown): string =>
  typeof item === 'object' &&
  item !== null &&
  'sensor_id' in item &&
  typeof item.sensor_id === 'string'
    ? item.sensor_id
    : ''

const bounded = (text: string): string => text.slice(0, longestWhy)
