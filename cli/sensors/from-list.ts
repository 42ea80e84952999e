/** Registry entries from an operator's list: CSV with a header, or GeoJSON points. */

import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { parseIso } from '../../core/iso-time.ts'
import { cadenceSecondsOf, newEntry } from '../../operate/sensor-registry.ts'
import { type SensorSettings, withSettings } from '../../operate/sensor-settings.ts'
import { inWords, MustAct } from '../../runtime/exit.ts'
import { parseDurationMs, parseYes } from '../../runtime/settings.ts'
import { entryFault } from '../../schemas/devices/registered-sensor.ts'
import {
  aboutNames,
  type Device,
  defaultCadenceSeconds,
  type SensorEntry,
} from '../../schemas/devices/sensor.ts'
import { parseCsvLines } from '../shell/csv.ts'
import { nearest } from '../shell/nearest.ts'
import { aboutOfTexts } from './about.ts'
import { deviceOf } from './device.ts'
import { defaultOverlapMs, deviceKeyOf, signatureOf } from './signing.ts'

export type ListOptions = {
  /** For sensors whose row names none. */
  readonly area: string | undefined
  readonly cadenceSeconds: number | undefined
  readonly nowMs: number
  readonly idPrefix: string
}

/** A registry entry, and the settings that the list names: they replace those of a known sensor. */
export type ListedSensor = { readonly entry: SensorEntry; readonly settings: SensorSettings }

/** What describes a sensor: a column each in a list, and a flag each of `sensors add`. */
export const entryFields = [
  'id',
  'area',
  'lat',
  'lon',
  'address',
  'cadence',
  'from',
  'device',
] as const

const columns = [
  ...entryFields,
  'device_options',
  'receipts',
  'public_key',
  'signature',
  ...aboutNames,
] as const

type Column = (typeof columns)[number]

/** One row or one point as text; '' where it names nothing. */
type ListedRow = Readonly<Record<Column, string>>

const rowOf = (textOfColumn: (name: Column) => string): ListedRow =>
  // fromEntries loses the type of the keys
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(columns.map((name) => [name, textOfColumn(name)])) as Record<Column, string>

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
    const row = rowOf((name) => cells[names.indexOf(name)]?.trim() ?? '')
    return listedSensor(row, `line ${line}`, options)
  })
}

const isColumn = (name: string): boolean => columns.some((known) => known === name)

function unknownColumn(name: string): MustAct {
  const meant = nearest(name, columns)
  const hint = meant === undefined ? 'leave it out.' : `did you mean "${meant}"?`
  return new MustAct(`there is no column "${name}": ${hint} The columns are ${columns.join(',')}`)
}

/** Properties of the map program are ignored; a misspelt one of ours is not. */
export function sensorsFromGeoJson(text: string, options: ListOptions): ListedSensor[] {
  const { features } = parseCollection(text)
  return features.map((feature, index) => {
    const where = `feature ${index + 1}`
    const { geometry, properties = {} } = asFields(feature)
    const { type, coordinates } = asFields(geometry)
    if (type !== 'Point' || !Array.isArray(coordinates))
      throw new MustAct(`${where} is not a Point`)
    const fields = asFields(properties)
    const misspelt = Object.keys(fields).find(
      (name) => !isColumn(name) && name.length > 3 && nearest(name, columns) !== undefined,
    )
    if (misspelt !== undefined)
      throw new MustAct(
        `${where} has a property "${misspelt}": did you mean "${nearest(misspelt, columns)}"?`,
      )
    const property = (name: string): string => textOf(fields[name]).trim()
    const row = {
      ...rowOf(property),
      id: property('id') || textOf(asFields(feature)['id']),
      lon: textOf(coordinates[0]),
      lat: textOf(coordinates[1]),
    }
    return listedSensor(row, where, options)
  })
}

/** @throws MustAct that begins with `where` */
function listedSensor(row: ListedRow, where: string, options: ListOptions): ListedSensor {
  const area = row.area || options.area
  if (row.id === '') throw new MustAct(`${where} names no id`)
  if (area === undefined) throw new MustAct(`${where} names no area: add one, or give --area`)
  const number = (name: 'lat' | 'lon', most: number): number => {
    const value = Number(row[name])
    if (row[name] === '' || !(Math.abs(value) <= most))
      throw new MustAct(
        `${where}: "${row[name]}" is not a ${name}, a number from -${most} to ${most}`,
      )
    return value
  }
  const settings = settingsOf(row, where, options)
  const bare = newEntry({
    id: row.id,
    area,
    lat: number('lat', 90),
    lon: number('lon', 180),
    address: row.address,
    cadenceSeconds: defaultCadenceSeconds,
    fromMs: fromOf(row.from, where, options),
    nowMs: options.nowMs,
  })
  const entry = withSettings(bare, settings)
  const fault = entryFault(entry, sensorIdRules(options.idPrefix))
  if (fault !== undefined) throw new MustAct(`${where}: ${fault}`)
  return { entry, settings }
}

function settingsOf(row: ListedRow, where: string, options: ListOptions): SensorSettings {
  const cadenceSeconds = cadenceOf(row.cadence, where, options)
  const device = deviceIn(row, where)
  const receipts = row.receipts === '' ? undefined : parseYes(row.receipts)
  if (row.receipts !== '' && receipts === undefined)
    throw new MustAct(`${where}: receipts must be yes or no, and is "${row.receipts}"`)
  const signing = within(where, () => signingOf(row, options))
  const about = within(where, () => aboutOfTexts((name) => row[name]))
  return { cadenceSeconds, device, receipts, ...signing, ...about }
}

/** From now on: a list says what a sensor has, not since when. */
function signingOf(
  { public_key: key, signature }: ListedRow,
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
  { device, device_options: options }: ListedRow,
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
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''
