/** Bytes from a sensor → raw readings, or the reason why not. */
import type { RefusalReason } from '../../core/state/log-message.ts'
import { checkOf } from '../check.ts'
import { maxRawBytes, maxRawItems, type RawReading, rawReadingSchema } from './raw-reading.ts'

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
