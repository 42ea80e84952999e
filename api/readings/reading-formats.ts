import { setImmediate as soon } from 'node:timers/promises'
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import { basicNames, quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, inUnit, valueOf } from '../../core/air/values.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { jsonType } from '../http/answer.ts'
import { type Params, readChoice } from '../http/params.ts'
import { fullJson, type ReadingJson, type TextsOfReadings } from '../live/reading-json.ts'
import type { CorrectedOf, View } from '../live/view.ts'
import { correctionsJson, correctionsWord } from './corrections.ts'

/** `format=` → media type, the usual first. */
export const readingTypes = {
  json: jsonType,
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  geojson: 'application/geo+json',
} as const

const formatNames = ['json', 'csv', 'ndjson', 'geojson'] as const

/** The type that `format` names; undefined: Accept decides. @throws ApiError 400 */
export function typeOfFormat(params: Params): string | undefined {
  const format = readChoice(params, 'format', formatNames)
  return format && readingTypes[format]
}

type Page = {
  readonly readings: readonly Reading[]
  /** Whose values are in the readings. */
  readonly corrections?: readonly Correction[]
  readonly view: View
  /** In JSON: the fields between `status` and `readings`. */
  readonly fields: Readonly<Record<string, unknown>>
}

type Sources = {
  readonly texts: TextsOfReadings
  readonly registered: (sensor: SensorId) => RegisteredSensor | undefined
}

/** A page as text: its rows may be written one after the other, whenever there is time. */
type Written = {
  readonly begin: string
  readonly row: (reading: Reading) => string
  readonly between: string
  readonly end: string
}

/** @param type one of `readingTypes` */
function written(type: string, page: Page, sources: Sources): Written {
  const { texts } = sources
  const jsonOf = (reading: Reading): string => texts.textOf(reading, page.view)
  switch (type) {
    case readingTypes.csv:
      return csv(page, sources)
    case readingTypes.ndjson: {
      const row = (reading: Reading): string => ndjsonLine(jsonOf(reading), page.corrections)
      return { begin: '', row, between: '', end: '' }
    }
    case readingTypes.geojson:
      return {
        ...collectionOf(page.corrections),
        row: (reading) => featureText(placeOf(reading, sources), jsonOf(reading)),
      }
    default: {
      const fields = JSON.stringify({ status: 'success', ...page.fields }).slice(0, -1)
      return { begin: `${fields},"readings":[`, row: jsonOf, between: ',', end: ']}' }
    }
  }
}

/** @param type one of `readingTypes` */
export function writeReadings(type: string, page: Page, sources: Sources): Buffer {
  const { begin, row, between, end } = written(type, page, sources)
  return Buffer.from(begin + page.readings.map(row).join(between) + end)
}

const rowsAtOnce = 250

/** The same of a long page: between some rows and the next ones other requests get their turn. */
export async function writeInTurns(type: string, page: Page, sources: Sources): Promise<Buffer> {
  const { begin, row, between, end } = written(type, page, sources)
  const parts = [begin]
  for (let at = 0; at < page.readings.length; at += rowsAtOnce) {
    if (at > 0) await soon()
    const rows = page.readings
      .slice(at, at + rowsAtOnce)
      .map(row)
      .join(between)
    parts.push(at > 0 ? between + rows : rows)
  }
  return Buffer.concat([...parts, end].map((part) => Buffer.from(part)))
}

const columns = [
  'sensor_id',
  'timestamp',
  ...basicNames,
  'aqi',
  'aqi_category',
  'dominant_pollutant',
  'beyond_index',
] as const satisfies readonly (keyof ReadingJson)[]
const proofColumns = [
  'quality',
  'hash',
  'blockchain_status',
  'blockchain_tx',
  'quality_level',
] as const

/** What never changes of a row, cached with the reading. By both: each index gives it other values. */
const beginnings = new WeakMap<AirIndex, WeakMap<Reading, string>>()

function beginningOf(reading: Reading, index: AirIndex, texts: TextsOfReadings): string {
  if (texts.isPassing) return newBeginning(reading, index, texts)
  const known = beginnings.get(index) ?? new WeakMap<Reading, string>()
  let text = known.get(reading)
  if (text !== undefined) return text
  text = newBeginning(reading, index, texts)
  beginnings.set(index, known.set(reading, text))
  return text
}

function newBeginning(reading: Reading, index: AirIndex, texts: TextsOfReadings): string {
  const json = fullJson(reading, index, texts)
  const measured = columns.map((name) => json[name] ?? '')
  return [...measured, json.quality.join(' '), json.blockchain.hash].join(',')
}

/**
 * RFC 4180: no value of ours holds a comma, a quote or a line break; null is empty. Quantities
 * other than the basic five come last, if the page's readings have them, so that no column moves; after
 * them what was corrected, and by which models.
 */
function csv({ readings, corrections = [], view }: Page, { texts }: Sources): Written {
  const others = quantityNames.filter(
    (_, id) => id >= fewestValues && readings.some(({ values }) => (values[id] ?? null) !== null),
  )
  const row = (reading: Reading): string => {
    const { status, tx_hash } = texts.onChainOf(reading)
    const end = others.map((name) => `,${inUnit(valueOf(reading.values, name)) ?? ''}`).join('')
    const level = qualityOf(reading.flags)
    const given = view.correctedOf?.(reading)
    const better = correctedCells(corrections, given)
      .map((cell) => `,${cell}`)
      .join('')
    return `${beginningOf(reading, view.index, texts)},${status},${tx_hash ?? ''},${level}${end}${better}\r\n`
  }
  const better = correctedColumns(corrections)
  const begin = csvText([[...columns, ...proofColumns, ...others, ...better]])
  return { begin, row, between: '', end: '' }
}

export const correctedColumns = (models: readonly Correction[]): readonly string[] =>
  models.length === 0 ? [] : [...models.map(({ name, of }) => `${of}_${name}`), 'corrections']

/** @param given what the models gave of a row */
export const correctedCells = (
  models: readonly Correction[],
  given: ReturnType<CorrectedOf> | undefined,
): readonly (string | number)[] =>
  models.length === 0
    ? []
    : [...models.map(({ name, of }) => given?.[name]?.[of] ?? ''), correctionsWord(models)]

/** A line stands by itself, so each says which models it is of. @param json an object's */
export const ndjsonLine = (json: string, models: readonly Correction[] = []): string =>
  models.length === 0
    ? `${json}\n`
    : `${json.slice(0, -1)},"correction_models":${JSON.stringify(correctionsJson(models))}}\n`

export const csvText = (lines: readonly (readonly unknown[])[]): string =>
  lines.map((line) => `${line.join(',')}\r\n`).join('')

/** RFC 4180: for texts that people wrote. */
export const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** The place where the sensor was when it measured. */
function placeOf(reading: Reading, { registered }: Sources): Place | undefined {
  const sensor = registered(reading.sensor)
  return sensor && siteAt(sensor, reading.timeMs)
}

type Place = { readonly lat: number; readonly lon: number }

/** @param properties as JSON */
export function featureText(place: Place | undefined, properties: string): string {
  const geometry = place ? { type: 'Point', coordinates: [place.lon, place.lat] } : null
  return `{"type":"Feature","geometry":${JSON.stringify(geometry)},"properties":${properties}}`
}

/** The models are a member of the collection, as those of JSON are of the page. */
const collectionOf = (models: readonly Correction[] = []) => {
  const used =
    models.length === 0 ? '' : `"corrections":${JSON.stringify(correctionsJson(models))},`
  return { begin: `{"type":"FeatureCollection",${used}"features":[`, between: ',', end: ']}' }
}

export function collectionText(
  features: readonly string[],
  models: readonly Correction[] = [],
): string {
  const { begin, between, end } = collectionOf(models)
  return begin + features.join(between) + end
}
