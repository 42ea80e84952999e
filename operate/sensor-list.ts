/** Registry entries from an operator's list: CSV with a header, or GeoJSON points. */

import { areaFault } from '../core/air/area.ts'
import { sensorIdRules } from '../core/air/sensor-id.ts'
import { parseCsvLines } from '../core/csv.ts'
import { parseIso } from '../core/iso-time.ts'
import { nearest } from '../core/nearest.ts'
import type { DeviceKey } from '../runtime/device-key.ts'
import { inWords, MustAct } from '../runtime/exit.ts'
import { parseDurationMs, parseYes } from '../runtime/settings.ts'
import { entryFault } from '../schemas/devices/registered-sensor.ts'
import {
  aboutNames,
  type Device,
  defaultCadenceSeconds,
  type SensorEntry,
} from '../schemas/devices/sensor.ts'
import { aboutOfTexts } from './sensor-about.ts'
import { deviceOf } from './sensor-device.ts'
import { cadenceSecondsOf, mergeSites, newEntry } from './sensor-registry.ts'
import { type SensorSettings, withSettings } from './sensor-settings.ts'
import { defaultOverlapMs, signatureOf } from './sensor-signing.ts'

export type ListOptions = {
  /** For sensors whose row names none. */
  readonly area: string | undefined
  readonly cadenceSeconds: number | undefined
  readonly nowMs: number
  readonly idPrefix: string
  /** What a public key in the list is; null: none. @throws Error */
  readonly deviceKeyOf: (text: string) => DeviceKey | null
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

/** What is not right about a row: mostly the column whose value it is. Pages have words for each. */
export type RowFaultCode =
  | 'values'
  | 'no_id'
  | 'no_area'
  | 'id'
  | 'area'
  | 'lat'
  | 'lon'
  | 'cadence'
  | 'from'
  | 'device'
  | 'receipts'
  | 'public_key'
  | 'signature'
  | 'indoor'
  | 'height_m'
  | 'text'
  | 'entry'

/** Its message is in English and begins with the place of the row. */
class RowFault extends MustAct {
  readonly code: RowFaultCode
  readonly given: string

  constructor(code: RowFaultCode, given: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.given = given.slice(0, longestGiven)
  }
}
const longestGiven = 60

/** A row that is not right, and what to do about it. */
export type ListFault = {
  /** From 1. */
  readonly line: number
  readonly code: RowFaultCode
  /** The value, cut short. */
  readonly given: string
  /** For commands. */
  readonly message: string
}
export type ReadList = {
  readonly listed: readonly ListedSensor[]
  readonly faults: readonly ListFault[]
}

/** @throws MustAct that names the line, or the column that is not known */
export function sensorsFromCsv(text: string, options: ListOptions): readonly ListedSensor[] {
  const { listed, faults } = readSensorCsv(text, options)
  const [first] = faults
  if (first !== undefined) throw new MustAct(first.message)
  return listed
}

/**
 * Every row, so that all faults are known at once.
 * @throws MustAct where the columns are not right, or there are more rows than `most`
 */
export function readSensorCsv(text: string, options: ListOptions, most = Infinity): ReadList {
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
  if (rows.length > most)
    throw new MustAct(
      `the list has ${rows.length} rows, and at most ${most} are taken at once: cut it into several`,
    )
  const listed: ListedSensor[] = []
  const faults: ListFault[] = []
  for (const { line, cells } of rows) {
    try {
      listed.push(listedRow(names, cells, `line ${line}`, options))
    } catch (error) {
      if (!(error instanceof RowFault)) throw error
      const { code, given, message } = error
      faults.push({ line, code, given, message })
    }
  }
  return { listed, faults }
}

function listedRow(
  names: readonly string[],
  cells: readonly string[],
  where: string,
  options: ListOptions,
): ListedSensor {
  const surplus = cells.slice(names.length).find((cell) => cell.trim() !== '')
  if (surplus !== undefined)
    throw new RowFault(
      'values',
      surplus,
      `${where} has more values than there are columns, from "${surplus}" on: put a value with a comma in quotes`,
    )
  const row = rowOf((name) => cells[names.indexOf(name)]?.trim() ?? '')
  return listedSensor(row, where, options)
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

/** @throws RowFault whose message begins with `where` */
function listedSensor(row: ListedRow, where: string, options: ListOptions): ListedSensor {
  const area = row.area || options.area
  if (row.id === '') throw new RowFault('no_id', '', `${where} names no id`)
  if (area === undefined)
    throw new RowFault('no_area', '', `${where} names no area: add one, or give --area`)
  const number = (name: 'lat' | 'lon', most: number): number => {
    const value = Number(row[name])
    if (row[name] === '' || !(Math.abs(value) <= most))
      throw new RowFault(
        name,
        row[name],
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
  const rules = sensorIdRules(options.idPrefix)
  const fault = entryFault(entry, rules)
  if (fault !== undefined) {
    const [code, given]: readonly [RowFaultCode, string] =
      rules.parse(row.id) === undefined
        ? ['id', row.id]
        : areaFault(area) === undefined
          ? ['entry', '']
          : ['area', area]
    throw new RowFault(code, given, `${where}: ${fault}`)
  }
  return { entry, settings }
}

function settingsOf(row: ListedRow, where: string, options: ListOptions): SensorSettings {
  const cadenceSeconds = cadenceOf(row.cadence, where, options)
  const device = deviceIn(row, where)
  const receipts = row.receipts === '' ? undefined : parseYes(row.receipts)
  if (row.receipts !== '' && receipts === undefined)
    throw new RowFault(
      'receipts',
      row.receipts,
      `${where}: receipts must be yes or no, and is "${row.receipts}"`,
    )
  const signing = signingOf(row, where, options)
  const about = aboutNames.map((name) =>
    within(where, [name === 'indoor' || name === 'height_m' ? name : 'entry', row[name]], () =>
      aboutOfTexts((asked) => (asked === name ? row[name] : '')),
    ),
  )
  return Object.assign({ cadenceSeconds, device, receipts, ...signing }, ...about)
}

/** From now on: a list says what a sensor has, not since when. */
function signingOf(
  { public_key: key, signature }: ListedRow,
  where: string,
  { nowMs, deviceKeyOf }: ListOptions,
): Pick<SensorSettings, 'newKey' | 'signature'> {
  return {
    newKey:
      key === ''
        ? undefined
        : {
            key: within(where, ['public_key', key], () => deviceKeyOf(key)),
            fromMs: nowMs,
            overlapMs: defaultOverlapMs,
          },
    signature: within(where, ['signature', signature], () =>
      signatureOf(signature === '' ? undefined : signature),
    ),
  }
}

/** @throws RowFault whose message begins with `where` */
function within<T>(
  where: string,
  [code, given]: readonly [RowFaultCode, string],
  read: () => T,
): T {
  try {
    return read()
  } catch (cause) {
    throw new RowFault(code, given, `${where}: ${inWords(cause)}`, { cause })
  }
}

function deviceIn(
  { device, device_options: options }: ListedRow,
  where: string,
): Device | null | undefined {
  return within(where, ['device', device || options], () => {
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
  if (ms === undefined)
    throw new RowFault('cadence', text, `${where}: "${text}" is not a cadence such as 5m or 300`)
  return cadenceSecondsOf(ms)
}

function fromOf(text: string, where: string, { nowMs }: ListOptions): number {
  if (text === '') return nowMs
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new RowFault(
    'from',
    text,
    `${where}: "${text}" is not a time with an offset such as 2026-01-31T00:00:00Z`,
  )
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

/** A list may name a sensor several times: a line for each of its sites. @throws MustAct */
export function onePerSensor(listed: readonly ListedSensor[]): readonly ListedSensor[] {
  const byId = Map.groupBy(listed, ({ entry }) => entry.id)
  return [...byId]
    .map(([id, lines]) => {
      const [first, ...more] = lines
      if (first === undefined || more.length === 0) return lines
      const froms = new Set(lines.flatMap(({ entry }) => entry.sites.map(({ from }) => from)))
      if (froms.size < lines.length)
        throw new MustAct(
          `${id} is named twice for the same time: keep one line of it, or give in "from" since when it is at each site`,
        )
      const settings = more.reduce(
        (known, { settings: next }) => joined(id, known, next),
        first.settings,
      )
      const sites = mergeSites(lines.flatMap(({ entry }) => entry.sites))
      return [{ entry: withSettings({ ...first.entry, sites }, settings), settings }]
    })
    .flat()
}

const namesOf: Readonly<Record<string, string>> = {
  cadenceSeconds: 'cadence',
  newKey: 'public key',
}

function joined(id: string, known: SensorSettings, next: SensorSettings): SensorSettings {
  const named = Object.entries(next).filter(([, value]) => value !== undefined)
  const before = new Map<string, unknown>(Object.entries(known))
  for (const [name, value] of named) {
    const other = before.get(name)
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(value))
      throw new MustAct(`${id} is named twice with another ${namesOf[name] ?? name}: give it once`)
  }
  return { ...known, ...Object.fromEntries(named) }
}
