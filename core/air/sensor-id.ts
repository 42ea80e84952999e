import type { Brand } from '../brand.ts'

/** A sensor's canonical name, as in subjects, tags and URLs: `NGR-LOS-{AREA}-{NUMBER}` in Lagos. */
export type SensorId = Brand<string, 'SensorId'>

/** How many partitions the readings are split into; it never changes. */
export const partitionCount = 16

export const defaultIdPrefix = 'NGR-LOS'

export type SensorIdRules = {
  /** What every id begins with. */
  readonly prefix: string
  /** The expected form in words, for error messages. */
  readonly format: string
  /** `text` as a canonical id, or undefined. */
  readonly parse: (text: string) => SensorId | undefined
  /** An id that this network could have, for errors and help. */
  readonly example: string
  /** The number of a short form (`NGR-LOS-017` → `017`), or undefined. */
  readonly shortNumber: (text: string) => string | undefined
}

/** @param prefix the city's own: `NGR-LOS` for NGR-LOS-IKJ-017, `BER` for BER-MIT-001 */
export function sensorIdRules(prefix: string = defaultIdPrefix): SensorIdRules {
  const literal = prefix.replace(/[^A-Za-z0-9-]/g, '\\$&')
  const canonical = new RegExp(`^${literal}-[A-Z]{2,5}-\\d{3,}$`)
  const short = new RegExp(`^${literal}-(\\d{3,})$`)
  return {
    prefix,
    format: `${prefix}-{AREA}-{NUMBER}`,
    example: `${prefix}-CEN-001`,
    // ids are used as NATS tokens and KV keys, so their length has a bound
    parse: (text) => (text.length <= 64 && canonical.test(text) ? (text as SensorId) : undefined),
    shortNumber: (text) => (text.length <= 64 ? short.exec(text)?.[1] : undefined),
  }
}

/** The AREA part of an id: `NGR-LOS-IKJ-017` → `IKJ`. */
export function areaCodeOf(id: SensorId): string {
  const end = id.lastIndexOf('-')
  return id.slice(id.lastIndexOf('-', end - 1) + 1, end)
}

/**
 * The partition of a sensor: FNV-1a 32 of its UTF-8 id, modulo 16. NATS's own
 * `partition(16, …)` subject mapping computes the same number.
 */
export function partitionOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) {
    // ids are ASCII by their pattern, so a UTF-16 unit is a byte
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  }
  return (hash >>> 0) % partitionCount
}
