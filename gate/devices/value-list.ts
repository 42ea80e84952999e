import { isObject } from './mapped.ts'

/** More entries than any firmware sends; those beyond are ignored. */
const mostEntries = 200

/**
 * `sensordatavalues` as sensor.community's firmware writes it, `[{value_type, value}]`, by type;
 * the first of a type counts.
 * @returns undefined where the body holds no such list
 */
export function readValueList(body: unknown): ReadonlyMap<string, unknown> | undefined {
  const list: unknown = isObject(body) ? body['sensordatavalues'] : undefined
  if (!Array.isArray(list)) return undefined
  const values = new Map<string, unknown>()
  for (const entry of list.slice(0, mostEntries)) {
    if (!isObject(entry)) continue
    const { value_type: type, value } = entry
    if (typeof type === 'string' && !values.has(type)) values.set(type, value)
  }
  return values
}

export const noValueList =
  'sensordatavalues must be a list of {"value_type": "…", "value": "…"}, as the firmware sends it'

/** `esp8266-1234567` and `1234567` name the same chip. */
export const chipIdOf = (text: string): string => text.replace(/^esp\d+-/i, '').toLowerCase()
