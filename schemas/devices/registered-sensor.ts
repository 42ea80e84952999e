import { areaFault } from '../../core/air/area.ts'
import type { SignatureAlgorithm } from '../../core/air/device-signature.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { serialFault } from '../../core/device-topics.ts'
import { parseIso } from '../../core/iso-time.ts'
import { dayMs, secondMs } from '../../core/time.ts'
import { checkOf } from '../check.ts'
import {
  aboutNames,
  type Device,
  type SensorAbout,
  type SensorEntry,
  type SensorKey,
  type Site,
  sensorSchema,
} from './sensor.ts'
import { keysFault } from './sensor-keys.ts'

export type RegisteredSite = {
  readonly fromMs: number
  readonly area: string
  readonly lat: number
  readonly lon: number
  readonly address: string
}

/** A public key of the device: it signs readings of the times from `fromMs` to before `untilMs`. */
export type RegisteredKey = {
  readonly algorithm: SignatureAlgorithm
  readonly publicKey: string
  readonly fromMs: number
  readonly untilMs?: number
  /** When it was entered into the registry; absent: that was not kept. */
  readonly addedMs?: number
}

/** Whether it signs readings of that time. */
export const isValidAt = ({ fromMs, untilMs = Infinity }: RegisteredKey, timeMs: number): boolean =>
  timeMs >= fromMs && timeMs < untilMs

/** A registry entry as the rules use it: times in ms, sites oldest first, never empty. */
export type RegisteredSensor = {
  readonly id: SensorId
  readonly cadenceMs: number
  readonly sites: readonly [RegisteredSite, ...RegisteredSite[]]
  /** When it was taken out of the network; absent: it is in use. */
  readonly retiredMs?: number
  readonly device?: Device
  /** What everyone may know about the device; absent: nothing is known. */
  readonly about?: SensorAbout
  /** Absent: what it sends is never signed. */
  readonly keys?: readonly RegisteredKey[]
  /** A reading without a signature is refused; absent: it is not. */
  readonly mustSign?: true
  /** Since when that is so; absent: it is not, or that was not kept. */
  readonly mustSignSinceMs?: number
  /** It receives a receipt after each commit; absent: no. */
  readonly receipts?: boolean
  /** Absent: the default bounds. */
  readonly flood?: { readonly perSecond: number; readonly burst: number }
}

const isEntry = checkOf<SensorEntry>(sensorSchema)

/** What is wrong with a registry entry, for people, or undefined. */
export function entryFault(value: unknown, rules: SensorIdRules): string | undefined {
  if (!isEntry(value)) {
    const [first] = isEntry.errors ?? []
    return `${first?.instancePath || 'the entry'} ${first?.message ?? 'is not valid'}`
  }
  if (rules.parse(value.id) === undefined) return `the id is not ${rules.format}: ${value.id}`
  const serial = value.device && serialFault(value.device)
  if (serial !== undefined) return serial
  const bad = value.sites.find(({ from }) => !('timeMs' in parseIso(from)))
  if (bad) return `a site's "from" is not an ISO time with an offset: ${bad.from}`
  return (
    value.sites.map(({ area }) => areaFault(area)).find((fault) => fault !== undefined) ??
    keysFault(value)
  )
}

/**
 * A sensor in use; a retired one has none of its rights.
 * @param key of the bucket: an entry that names another sensor is invalid
 * @param isFine `entryFault` found nothing
 * @returns undefined if the entry is invalid: such a sensor is unknown
 */
export function parseSensor(
  value: unknown,
  rules: SensorIdRules,
  key?: string,
  isFine?: boolean,
): RegisteredSensor | undefined {
  const sensor = parseAnySensor(value, rules, key, isFine)
  return sensor?.retiredMs === undefined ? sensor : undefined
}

/** The same, but also for a retired sensor: its readings stay, under its id. */
export function parseAnySensor(
  value: unknown,
  rules: SensorIdRules,
  key?: string,
  isFine = false,
): RegisteredSensor | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was checked
  const entry = isFine || isEntry(value) ? (value as SensorEntry) : undefined
  if (entry === undefined || (key !== undefined && key !== entry.id)) return undefined
  const id = rules.parse(entry.id)
  if (id === undefined) return undefined
  if (!isFine && (entry.sites.some(isBadSite) || keysFault(entry) !== undefined)) return undefined
  const [first, ...rest] = entry.sites
  if (first === undefined) return undefined
  const sensor: Writable<RegisteredSensor> = {
    id,
    cadenceMs: entry.cadence_seconds * secondMs,
    sites:
      rest.length === 0
        ? [registeredSite(first)]
        : oldestFirst(registeredSite(first), ...rest.map(registeredSite)),
  }
  // most have nothing more
  if (Object.keys(entry).length === sensorSchema.required.length) return sensor
  const { retired_at: retired, device, keys, receipts, flood } = entry
  // if the time cannot be read, the sensor counts as retired all the same
  if (retired !== undefined) sensor.retiredMs = timeOf(retired)
  if (device !== undefined) sensor.device = device
  const about = aboutNames.filter((name) => entry[name] !== undefined)
  if (about.length > 0) sensor.about = Object.fromEntries(about.map((name) => [name, entry[name]]))
  if (keys !== undefined) sensor.keys = keys.map(registeredKey)
  if (entry.signature === 'required') {
    sensor.mustSign = true
    const since = parseIso(entry.signature_since ?? '')
    if ('timeMs' in since) sensor.mustSignSinceMs = since.timeMs
  }
  if (receipts !== undefined) sensor.receipts = receipts
  if (flood !== undefined) sensor.flood = { perSecond: flood.per_second, burst: flood.burst }
  return sensor
}

/** While it is made. */
type Writable<T> = { -readonly [K in keyof T]: T[K] }

const isBadSite = ({ from, area }: Site): boolean =>
  !('timeMs' in parseIso(from)) || areaFault(area) !== undefined

const registeredSite = ({ from, area, lat, lon, address }: Site): RegisteredSite => ({
  fromMs: timeOf(from),
  area,
  lat,
  lon,
  address,
})

const oldestFirst = (...sites: [RegisteredSite, ...RegisteredSite[]]): RegisteredSensor['sites'] =>
  // sorting leaves none out
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  sites.sort((a, b) => a.fromMs - b.fromMs) as [RegisteredSite, ...RegisteredSite[]]

const registeredKey = ({
  algorithm,
  public_key,
  from,
  until,
  added_at: added,
}: SensorKey): RegisteredKey => ({
  algorithm,
  publicKey: public_key,
  fromMs: timeOf(from),
  ...(until === undefined ? {} : { untilMs: timeOf(until) }),
  ...(added === undefined ? {} : { addedMs: timeOf(added) }),
})

/** A device may have measured while it was being set up, before it was registered. */
const setUpMs = dayMs

/** A sensor's reading from before this is refused unless an operator replays it; ms since the epoch. */
export const earliestOf = ({
  sites: [first],
}: {
  readonly sites: readonly [Pick<RegisteredSite, 'fromMs'>, ...unknown[]]
}): number => first.fromMs - setUpMs

function timeOf(text: string): number {
  const verdict = parseIso(text)
  return 'timeMs' in verdict ? verdict.timeMs : 0
}

/**
 * The sites that have begun, with their ends: where a sensor will be is not published before. Without
 * addresses: at a former one there may live a person who has no sensor any more.
 */
export function begunSites({ sites }: RegisteredSensor, nowMs: number) {
  const begun = sites.filter(({ fromMs }, at) => at === 0 || fromMs <= nowMs)
  return begun.map(({ fromMs, area, lat, lon }, at) => ({
    fromMs,
    untilMs: begun[at + 1]?.fromMs,
    area,
    lat,
    lon,
  }))
}

/** Make and model, as far as they are known: what a correction was fitted to. */
export function kindOf(
  sensor: { readonly about?: RegisteredSensor['about'] } | undefined,
): string | undefined {
  const known = [sensor?.about?.make, sensor?.about?.model].filter((text) => text !== undefined)
  return known.length === 0 ? undefined : known.join(' ')
}

/** Where the sensor stood at a time: before its first site began, at the first. */
export function siteAt(sensor: RegisteredSensor, timeMs: number): RegisteredSite {
  const { sites } = sensor
  for (let i = sites.length - 1; i > 0; i--) {
    const site = sites[i]
    if (site !== undefined && site.fromMs <= timeMs) return site
  }
  return sites[0]
}

/** Since when it is where it was at a time; −Infinity: at its first site. */
export function sinceAt(sensor: RegisteredSensor, timeMs: number): number {
  const { fromMs } = siteAt(sensor, timeMs)
  return fromMs === sensor.sites[0].fromMs ? -Infinity : fromMs
}
