import { basicNames, quantityNames } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { fewestValues } from '../../core/air/values.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { type RegisteredSensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { jsonType } from '../http/answer.ts'
import { type Params, readChoice } from '../http/params.ts'
import type { ReadingTexts } from '../live/reading-json.ts'
import { fullJson, type ReadingJson } from '../live/reading-json.ts'
import type { View } from '../live/view.ts'
import { correctionsJson } from './corrections.ts'

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
  /** Given if one sensor was requested. */
  readonly sensor: SensorId | undefined
  readonly nextCursor: string | null
  /** How many a filter of quality left out; undefined: there was none. */
  readonly leftOut: number | undefined
  /** Whose values are in the readings. */
  readonly corrections?: readonly Correction[]
  readonly view: View
}

type Sources = {
  readonly texts: ReadingTexts
  readonly registered: (sensor: SensorId) => RegisteredSensor | undefined
}

/** @param type one of `readingTypes` */
export function writeReadings(type: string, page: Page, sources: Sources): Buffer {
  switch (type) {
    case readingTypes.csv:
      return Buffer.from(csv(page, sources))
    case readingTypes.ndjson:
      return Buffer.from(
        page.readings.map((r) => `${sources.texts.textOf(r, page.view)}\n`).join(''),
      )
    case readingTypes.geojson:
      return Buffer.from(geojson(page, sources))
    default:
      return Buffer.from(json(page, sources))
  }
}

function json(
  { readings, sensor, nextCursor, leftOut, corrections = [], view }: Page,
  { texts }: Sources,
): string {
  const sensorField = sensor === undefined ? '' : `"sensor_id":"${sensor}",`
  const leftField = leftOut === undefined ? '' : `"left_out":${leftOut},`
  const modelField =
    corrections.length === 0 ? '' : `"corrections":${JSON.stringify(correctionsJson(corrections))},`
  const items = readings.map((reading) => texts.textOf(reading, view)).join(',')
  return `{"status":"success",${sensorField}"count":${readings.length},"next_cursor":${JSON.stringify(nextCursor)},${leftField}${modelField}"readings":[${items}]}`
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

/**
 * RFC 4180: no value of ours holds a comma, a quote or a line break; null is empty. Quantities
 * other than the basic five come last, if the page's readings have them, so that no column moves.
 */
function csv({ readings, corrections = [], view }: Page, { texts }: Sources): string {
  const others = quantityNames.filter(
    (_, id) => id >= fewestValues && readings.some(({ values }) => (values[id] ?? null) !== null),
  )
  const lines = readings.map((reading) => {
    const row = fullJson(reading, view.index, texts)
    const { hash, status, tx_hash } = row.blockchain
    const measured = columns.map((name) => row[name] ?? '')
    const proof = [row.quality.join(' '), hash, status, tx_hash ?? '', row.quality_level]
    const given = view.correctedOf?.(reading)
    const better = corrections.map(({ name, of }) => given?.[name]?.[of] ?? '')
    return [...measured, ...proof, ...others.map((name) => row[name] ?? ''), ...better]
  })
  const better = corrections.map(({ name, of }) => `${of}_${name}`)
  return csvText([[...columns, ...proofColumns, ...others, ...better], ...lines])
}

export const csvText = (lines: readonly (readonly unknown[])[]): string =>
  lines.map((line) => `${line.join(',')}\r\n`).join('')

/** RFC 4180: for texts that people wrote. */
export const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** A point per reading, at the place where the sensor was when it measured. */
function geojson({ readings, view }: Page, { texts, registered }: Sources): string {
  const features = readings.map((reading) => {
    const sensor = registered(reading.sensor)
    const site = sensor && siteAt(sensor, reading.timeMs)
    return featureText(site, texts.textOf(reading, view))
  })
  return collectionText(features)
}

type Place = { readonly lat: number; readonly lon: number }

/** @param properties as JSON */
export function featureText(place: Place | undefined, properties: string): string {
  const geometry = place ? { type: 'Point', coordinates: [place.lon, place.lat] } : null
  return `{"type":"Feature","geometry":${JSON.stringify(geometry)},"properties":${properties}}`
}

export const collectionText = (features: readonly string[]): string =>
  `{"type":"FeatureCollection","features":[${features.join(',')}]}`
