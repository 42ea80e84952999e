/**
 * The sensors and their sites, for those who query the store: what everyone may know of them. A copy
 * of the registry; airproof itself reads the registry.
 */
import type { SensorId } from '../core/air/sensor-id.ts'

export type ListingCell = string | number | boolean | null
/** As in SQLite; a flag is 0 or 1 there. */
type ListingType = 'text' | 'integer' | 'real' | 'flag'

/** The columns of both tables after `sensor_id`; in InfluxDB they are fields. */
export const sensorColumns = {
  area: 'text',
  lat: 'real',
  lon: 'real',
  make: 'text',
  model: 'text',
  indoor: 'flag',
  height_m: 'real',
  licence: 'text',
  owner: 'text',
  expected_interval_seconds: 'integer',
  commissioned_at: 'text',
  retired_at: 'text',
  /** Another one when anything of the sensor or its sites is another. */
  revision: 'text',
} as const satisfies Readonly<Record<string, ListingType>>

export const siteColumns = {
  /** From 1, in the order of time. */
  site: 'integer',
  area: 'text',
  lat: 'real',
  lon: 'real',
  site_from: 'text',
  site_from_ms: 'integer',
  /** Missing: the sensor is there. */
  site_until: 'text',
  site_until_ms: 'integer',
} as const satisfies Readonly<Record<string, ListingType>>

export type SensorListing = {
  readonly sensor: SensorId
  readonly about: { readonly [Name in keyof typeof sensorColumns]: ListingCell }
  readonly sites: readonly { readonly [Name in keyof typeof siteColumns]: ListingCell }[]
}

/** Text for each sensor that is listed: its `revision`. */
export type ListedSensors = ReadonlyMap<SensorId, string>
