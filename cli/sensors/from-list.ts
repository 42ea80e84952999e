/** Registry entries from a list that somebody keeps: CSV with a header, or GeoJSON points. */

import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { parseIso } from '../../core/iso-time.ts'
import { cadenceSecondsOf, newEntry } from '../../operate/sensor-registry.ts'
import { type SensorSettings, withSettings } from '../../operate/sensor-settings.ts'
import { inWords, MustAct } from '../../runtime/exit.ts'
import { parseDurationMs, parseYes } from '../../runtime/settings.ts'
import { entryFault } from '../../schemas/devices/registered-sensor.ts'
import {
  type Device,
  defaultCadenceSeconds,
  type SensorEntry,
} from '../../schemas/devices/sensor.ts'
import { parseCsvLines } from '../shell/csv.ts'
import { nearest } from '../shell/nearest.ts'
import { deviceOf } from './device.ts'
import { defaultOverlapMs, deviceKeyOf, signatureOf } from './signing.ts'

export type ListOptions = {
  /** For sensors of which the list names none. */
  readonly area: string | undefined
  readonly cadenceSeconds: number | undefined
  readonly nowMs: number
  readonly idPrefix: string
}

/** A registry entry, and which of its settings the list names: they replace those of a known sensor. */
export type ListedSensor = { readonly entry: SensorEntry; readonly settings: SensorSettings }

const columns = [
  'id',
  'area',
  'lat',
  'lon',
  'address',
  'cadence',
  'from',
  'device',
  'device_options',
  'receipts',
  'public_key',
  'signature',
] as const

/** What one row or one point says, as text; '' where it says nothing. */
type Said = Readonly<Record<(typeof columns)[number], string>>

const saidBy = (textOfColumn: (name: string) => string): Said => ({
  id: textOfColumn('id'),
  area: textOfColumn('area'),
  lat: textOfColumn('lat'),
  lon: textOfColumn('lon'),
  address: textOfColumn('address'),
  cadence: textOfColumn('cadence'),
  from: textOfColumn('from'),
  device: textOfColumn('device'),
  device_options: textOfColumn('device_options'),
  receipts: textOfColumn('receipts'),
  public_key: textOfColumn('public_key'),
  signature: textOfColumn('signature'),
})

/** @throws MustAct that names the line, or the column that is not known */
export function sensorsFromCsv(text: string, options: ListOptions): ListedSensor[] {
  const [header, ...rows] = parseCsvLines(text)
  const names = (header?.cells ?? []).map((name) => name.trim().toLowerCase())
  if (!names.includes('id')) {
    const hint = names.some((name) => name.includes(';'))
      ? ' (an archive? then say --format sensors-africa or sensor-community)'
      : ''
    throw new MustAct(
      `the first line must name the columns, ${columns.join(',')}; it has no "id"${hint}`,
    )
  }
  for (const [place, name] of names.entries()) {
    if (!isColumn(name)) throw unknownColumn(name)
    if (names.indexOf(name) !== place)
      throw new MustAct(`there are two columns "${name}": keep one`)
  }
  return rows.map(({ line, cells }) => {
    const surplus = cells.slice(names.length).find((cell) => cell.trim() !== '')
    if (surplus !== undefined)
      throw new MustAct(
        `line ${line} has more values than there are columns, from "${surplus}" on: put a value with a comma in quotes`,
      )
    const said = saidBy((name) => cells[names.indexOf(name)]?.trim() ?? '')
    return listedSensor(said, `line ${line}`, options)
  })
}

const isColumn = (name: string): boolean => columns.some((known) => known === name)

function unknownColumn(name: string): MustAct {
  const meant = nearest(name, columns)
  const hint = meant === undefined ? 'leave it out.' : `did you mean "${meant}"?`
  return new MustAct(`there is no column "${name}": ${hint} The columns are ${columns.join(',')}`)
}

/** Other properties than ours are the map program's, and are left alone; a slip of ours is not. */
export function sensorsFromGeoJson(text: string, options: ListOptions): ListedSensor[] {
  const { features } = parseCollection(text)
  return features.map((feature, index) => {
    const where = `feature ${index + 1}`
    const { geometry, properties = {} } = asFields(feature)
    const { type, coordinates } = asFields(geometry)
    if (type !== 'Point' || !Array.isArray(coordinates))
      throw new MustAct(`${where} is not a Point`)
    const fields = asFields(properties)
    const slip = Object.keys(fields).find(
      (name) => !isColumn(name) && name.length > 3 && nearest(name, columns) !== undefined,
    )
    if (slip !== undefined)
      throw new MustAct(
        `${where} has a property "${slip}": did you mean "${nearest(slip, columns)}"?`,
      )
    const property = (name: string): string => textOf(fields[name]).trim()
    const said = {
      ...saidBy(property),
      id: property('id') || textOf(asFields(feature)['id']),
      lon: textOf(coordinates[0]),
      lat: textOf(coordinates[1]),
    }
    return listedSensor(said, where, options)
  })
}

/** @throws MustAct that begins with `where` */
function listedSensor(said: Said, where: string, options: ListOptions): ListedSensor {
  const area = said.area || options.area
  if (said.id === '') throw new MustAct(`${where} names no id`)
  if (area === undefined) throw new MustAct(`${where} names no area: add one, or give --area`)
  const number = (name: 'lat' | 'lon', most: number): number => {
    const value = Number(said[name])
    if (said[name] === '' || !(Math.abs(value) <= most))
      throw new MustAct(
        `${where}: "${said[name]}" is not a ${name}, a number from -${most} to ${most}`,
      )
    return value
  }
  const settings = settingsOf(said, where, options)
  const bare = newEntry({
    id: said.id,
    area,
    lat: number('lat', 90),
    lon: number('lon', 180),
    address: said.address,
    cadenceSeconds: defaultCadenceSeconds,
    fromMs: fromOf(said.from, where, options),
    nowMs: options.nowMs,
  })
  const entry = withSettings(bare, settings)
  const fault = entryFault(entry, sensorIdRules(options.idPrefix))
  if (fault !== undefined) throw new MustAct(`${where}: ${fault}`)
  return { entry, settings }
}

function settingsOf(said: Said, where: string, options: ListOptions): SensorSettings {
  const cadenceSeconds = cadenceOf(said.cadence, where, options)
  const device = deviceIn(said, where)
  const receipts = said.receipts === '' ? undefined : parseYes(said.receipts)
  if (said.receipts !== '' && receipts === undefined)
    throw new MustAct(`${where}: receipts must be yes or no, and is "${said.receipts}"`)
  const signing = within(where, () => signingOf(said, options))
  return { cadenceSeconds, device, receipts, ...signing }
}

/** From now on: a list says what a sensor has, not since when. */
function signingOf(
  { public_key: key, signature }: Said,
  { nowMs }: ListOptions,
): Pick<SensorSettings, 'newKey' | 'signature'> {
  return {
    newKey:
      key === ''
        ? undefined
        : { key: deviceKeyOf(key), fromMs: nowMs, overlapMs: defaultOverlapMs },
    signature: signatureOf(signature === '' ? undefined : signature),
  }
}

/** @throws MustAct that begins with `where` */
function within<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new MustAct(`${where}: ${inWords(cause)}`, { cause })
  }
}

function deviceIn(
  { device, device_options: options }: Said,
  where: string,
): Device | null | undefined {
  return within(where, () => {
    if (device === 'none') return null
    // NAME=VALUE; NAME=VALUE
    const parts = options.split(';').map((part) => part.trim())
    return deviceOf(
      device === '' ? undefined : device,
      parts.filter((part) => part !== ''),
    )
  })
}

function cadenceOf(
  text: string,
  where: string,
  { cadenceSeconds }: ListOptions,
): number | undefined {
  if (text === '') return cadenceSeconds
  // a bare number means seconds
  const ms = parseDurationMs(/^\d+$/.test(text) ? `${text}s` : text)
  if (ms === undefined) throw new MustAct(`${where}: "${text}" is not a cadence such as 5m or 300`)
  return cadenceSecondsOf(ms)
}

function fromOf(text: string, where: string, { nowMs }: ListOptions): number {
  if (text === '') return nowMs
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new MustAct(`${where}: "${text}" is not a time with an offset such as 2026-01-31T00:00:00Z`)
}

function parseCollection(text: string): { readonly features: readonly unknown[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new MustAct('it is not JSON', { cause })
  }
  const { type, features } = asFields(value)
  if (type !== 'FeatureCollection' || !Array.isArray(features))
    throw new MustAct('it is not a GeoJSON FeatureCollection')
  return { features }
}

const asFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
