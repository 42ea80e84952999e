/** What is common to the LoRaWAN network servers' posts. */
import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { isObject, type Mapped, openDraft, type Refusal } from './mapped.ts'

/**
 * Which key of a decoded payload holds what, in our units: `{pm25: 'pm2_5'}`. A dot goes into an
 * object, unless a key has that very name.
 */
export type FieldTable = { readonly [Name in QuantityName]?: string }

export type Uplink = {
  /** 16 upper hex digits. */
  readonly devEui: string
  readonly mapped: Mapped
}

/** Something other than a measurement: joins, acknowledgements, status. Not a fault. */
export type NoUplink = { readonly noUplink: string }

export type UplinkVerdict = Uplink | NoUplink | Refusal

/** @returns undefined where it is not a device EUI */
export function devEuiOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[0-9a-f]{16}$/i.test(value)) return undefined
  return value.toUpperCase()
}

/** @param decoded what the network server's payload formatter made */
export function mapDecoded(decoded: unknown, table: FieldTable, timeMs: number): Mapped {
  const draft = openDraft()
  if (!isObject(decoded)) return { refused: 'the decoded payload is not an object' }
  for (const name of quantityNames) {
    const key = table[name]
    if (key !== undefined) draft.take(name, key, valueAt(decoded, key))
  }
  const used = new Set(Object.values(table).map((key) => key.split('.')[0] ?? key))
  for (const key of Object.keys(decoded)) {
    if (!used.has(key) && !Object.values(table).includes(key))
      draft.ignore(key, "the application's table of fields does not name it")
  }
  return draft.end(undefined, timeMs)
}

function valueAt(decoded: Readonly<Record<string, unknown>>, key: string): unknown {
  if (Object.hasOwn(decoded, key)) return decoded[key]
  let value: unknown = decoded
  for (const step of key.split('.'))
    value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  return value
}
