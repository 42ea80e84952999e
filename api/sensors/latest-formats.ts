/** Sensors with their latest readings, in the formats that readings have. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'
import { type LatestJson, latestEnd, latestFields, latestJson } from '../live/latest-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { asciiJson } from '../live/sensor-text.ts'
import {
  collectionText,
  csvCell,
  csvText,
  featureText,
  readingTypes,
} from '../readings/reading-formats.ts'

/** A sensor of the answer; the distance is given if the request names a place. */
export type Found = { readonly entry: Entry; readonly distanceM: number | undefined }
export type Field = (typeof latestFields)[number]

type Page = {
  readonly shown: readonly Found[]
  /** Of all pages. */
  readonly total: number
  readonly next: string | null
  /** undefined: all. */
  readonly fields: readonly Field[] | undefined
  /** One of `readingTypes`. */
  readonly type: string
  readonly index: AirIndex
}

type Sources = { readonly board: Pick<SensorBoard, 'latestTextOf'>; readonly nowMs: number }

export function writeLatest(page: Page, { board, nowMs }: Sources): Buffer {
  const { shown, total, next, fields, type, index } = page
  const jsonOf = ({ entry, distanceM }: Found) => latestJson(entry, { index, nowMs, distanceM })
  if (type === readingTypes.csv) return Buffer.from(csv(shown.map(jsonOf), fields))
  const texts = shown.map((found) => {
    const { entry, distanceM } = found
    if (fields !== undefined) return asciiJson(picked(jsonOf(found), fields))
    return board.latestTextOf(entry, index) + latestEnd(entry, { nowMs, distanceM })
  })
  // all of it is ASCII, so one byte per character
  const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
  switch (type) {
    case readingTypes.ndjson:
      return bytes(texts.map((text) => `${text}\n`).join(''))
    case readingTypes.geojson:
      return bytes(
        collectionText(shown.map(({ entry }, at) => featureText(entry.site, texts[at] ?? ''))),
      )
    default:
      return bytes(
        `{"status":"success","count":${shown.length},"total":${total},"next_cursor":${JSON.stringify(next)},"sensors":[${texts.join(',')}]}`,
      )
  }
}

const picked = (json: LatestJson, fields: readonly Field[]) =>
  Object.fromEntries(fields.map((name) => [name, json[name] ?? null]))

/**
 * A location has three columns. Quantities other than the basic five, and the distance, have one if
 * a sensor of the page has them; all that `fields` names have one.
 */
function csv(rows: readonly LatestJson[], fields: readonly Field[] | undefined): string {
  const others = new Set<Field>([...quantityNames.slice(fewestValues), 'distance_m'])
  const names =
    fields ??
    latestFields.filter((name) => !others.has(name) || rows.some((row) => row[name] !== undefined))
  const head = names.flatMap((name) => (name === 'location' ? ['lat', 'lon', 'address'] : [name]))
  return csvText([head, ...rows.map((row) => names.flatMap((name) => cellsOf(row, name)))])
}

function cellsOf(row: LatestJson, name: Field): readonly (string | number | boolean)[] {
  if (name === 'location') {
    const { lat, lon, address } = row.location
    return [lat, lon, csvCell(address)]
  }
  if (name === 'quality') return [row.quality.join(' ')]
  const value = row[name] ?? ''
  return [typeof value === 'string' ? csvCell(value) : value]
}
