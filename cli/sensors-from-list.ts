/** Registry entries from a list that somebody keeps: CSV with a header, or GeoJSON points. */
import { parseIso } from '../core/iso-time.ts'
import { MustAct } from '../runtime/exit.ts'
import { cadenceSecondsOf, newEntry } from '../runtime/sensor-registry.ts'
import { parseDurationMs } from '../runtime/settings.ts'
import { defaultCadenceSeconds, type SensorEntry } from '../schemas/sensor.ts'
import { parseCsv } from './csv.ts'

export type ListOptions = {
  /** For sensors of which the list names none. */
  readonly area: string | undefined
  readonly cadenceSeconds: number | undefined
  readonly nowMs: number
}

/** What one row or one point says, as text; '' where it says nothing. */
type Said = {
  readonly id: string
  readonly area: string
  readonly lat: string
  readonly lon: string
  readonly address: string
  readonly cadence: string
  readonly from: string
}

const columns = ['id', 'area', 'lat', 'lon', 'address', 'cadence', 'from'] as const

/** @throws MustAct that names the row */
export function sensorsFromCsv(text: string, options: ListOptions): SensorEntry[] {
  const [header = [], ...rows] = parseCsv(text)
  const names = header.map((name) => name.trim().toLowerCase())
  if (!names.includes('id')) {
    const hint = names.some((name) => name.includes(';'))
      ? ' (an archive? then say --format sensors-africa or sensor-community)'
      : ''
    throw new MustAct(
      `the first line must name the columns, ${columns.join(',')}; it has no "id"${hint}`,
    )
  }
  return rows.map((row, index) => {
    const cell = (name: string): string => row[names.indexOf(name)]?.trim() ?? ''
    const said = {
      id: cell('id'),
      area: cell('area'),
      lat: cell('lat'),
      lon: cell('lon'),
      address: cell('address'),
      cadence: cell('cadence'),
      from: cell('from'),
    }
    return entryOf(said, `row ${index + 2}`, options)
  })
}

/** @throws MustAct that names the feature */
export function sensorsFromGeoJson(text: string, options: ListOptions): SensorEntry[] {
  const { features } = parseCollection(text)
  return features.map((feature, index) => {
    const where = `feature ${index + 1}`
    const { geometry, properties = {} } = asFields(feature)
    const { type, coordinates } = asFields(geometry)
    if (type !== 'Point' || !Array.isArray(coordinates)) throw new MustAct(`${where} is no Point`)
    const property = (name: string): string => {
      const value = asFields(properties)[name]
      return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
    }
    const said = {
      id: property('id') || textOf(asFields(feature)['id']),
      area: property('area'),
      lon: textOf(coordinates[0]),
      lat: textOf(coordinates[1]),
      address: property('address'),
      cadence: property('cadence'),
      from: property('from'),
    }
    return entryOf(said, where, options)
  })
}

function entryOf(said: Said, where: string, options: ListOptions): SensorEntry {
  const area = said.area || options.area
  if (area === undefined) throw new MustAct(`${where} names no area: add one, or give --area`)
  const number = (name: 'lat' | 'lon'): number => {
    const value = Number(said[name])
    if (said[name] === '' || !Number.isFinite(value))
      throw new MustAct(`${where}: "${said[name]}" is no ${name}`)
    return value
  }
  return newEntry({
    id: said.id,
    area,
    lat: number('lat'),
    lon: number('lon'),
    address: said.address,
    cadenceSeconds: cadenceOf(said.cadence, where, options),
    fromMs: fromOf(said.from, where, options),
    nowMs: options.nowMs,
  })
}

function cadenceOf(text: string, where: string, { cadenceSeconds }: ListOptions): number {
  if (text === '') return cadenceSeconds ?? defaultCadenceSeconds
  // a bare number means seconds
  const ms = parseDurationMs(/^\d+$/.test(text) ? `${text}s` : text)
  if (ms === undefined) throw new MustAct(`${where}: "${text}" is no cadence such as 5m or 300`)
  return cadenceSecondsOf(ms)
}

function fromOf(text: string, where: string, { nowMs }: ListOptions): number {
  if (text === '') return nowMs
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return verdict.timeMs
  throw new MustAct(`${where}: "${text}" is no time with an offset such as 2026-01-31T00:00:00Z`)
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
    throw new MustAct('it is no GeoJSON FeatureCollection')
  return { features }
}

const asFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
