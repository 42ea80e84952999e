import { setImmediate as soon } from 'node:timers/promises'
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import { basicNames, quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues, inUnit, valueOf } from '../../core/air/values.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { jsonType } from '../http/answer.ts'
import { type Params, readChoice } from '../http/params.ts'
import type { ReadingTexts } from '../live/reading-json.ts'
import { fullJson, type ReadingJson } from '../live/reading-json.ts'
import type { View } from '../live/view.ts'

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
  readonly view: View
  /** In JSON: the fields between `status` and `readings`. */
  readonly fields: Readonly<Record<string, unknown>>
}

type Sources = {
  readonly texts: ReadingTexts
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
    case readingTypes.ndjson:
      return { begin: '', row: (reading) => `${jsonOf(reading)}\n`, between: '', end: '' }
    case readingTypes.geojson:
      return {
        ...collection,
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

function beginningOf(reading: Reading, index: AirIndex, texts: ReadingTexts): string {
  const known = beginnings.get(index) ?? new WeakMap<Reading, string>()
  let text = known.get(reading)
  if (text !== undefined) return text
  const json = fullJson(reading, index, texts)
  const measured = columns.map((name) => json[name] ?? '')
  text = [...measured, json.quality.join(' '), json.blockchain.hash].join(',')
  beginnings.set(index, known.set(reading, text))
  return text
}

/**
 * RFC 4180: no value of ours holds a comma, a quote or a line break; null is empty. Quantities
 * other than the basic five come last, if the page's readings have them, so that no column moves.
 */
function csv({ readings, view }: Page, { texts }: Sources): Written {
  const others = quantityNames.filter(
    (_, id) => id >= fewestValues && readings.some(({ values }) => (values[id] ?? null) !== null),
  )
  const row = (reading: Reading): string => {
    const { status, tx_hash } = texts.onChainOf(reading)
    const end = others.map((name) => `,${inUnit(valueOf(reading.values, name)) ?? ''}`).join('')
    const level = qualityOf(reading.flags)
    return `${beginningOf(reading, view.index, texts)},${status},${tx_hash ?? ''},${level}${end}\r\n`
  }
  const begin = csvText([[...columns, ...proofColumns, ...others]])
  return { begin, row, between: '', end: '' }
}

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

const collection = { begin: '{"type":"FeatureCollection","features":[', between: ',', end: ']}' }

export const collectionText = (features: readonly string[]): string =>
  collection.begin + features.join(collection.between) + collection.end
