/** Sensors with their latest readings, in the formats that readings have. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { fewestValues } from '../../core/air/values.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { indexNow, indexOfDay } from '../areas/network-now.ts'
import {
  type LatestJson,
  latestEnd,
  latestFields,
  latestJson,
  type namedFields,
} from '../live/latest-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { type Entry, newestReading } from '../live/sensor-now.ts'
import type { Found } from '../live/sensor-pages.ts'
import { asciiJson } from '../live/sensor-text.ts'
import type { CorrectedOf } from '../live/view.ts'
import { correctedBy, correctionsJson } from '../readings/corrections.ts'
import {
  collectionText,
  correctedCells,
  correctedColumns,
  csvCell,
  csvText,
  featureText,
  ndjsonLine,
  readingTypes,
} from '../readings/reading-formats.ts'

export type Field = (typeof latestFields)[number] | (typeof namedFields)[number]

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
  readonly corrections: readonly Correction[]
}

type Sources = { readonly board: Pick<SensorBoard, 'latestTextOf'>; readonly nowMs: number }

export function writeLatest(page: Page, { board, nowMs }: Sources): Buffer {
  const { shown, total, next, fields, type, index, corrections } = page
  const jsonOf = ({ entry, distanceM }: Found): LatestJson => ({
    ...latestJson(entry, { index, nowMs, distanceM }),
    ...(fields?.includes('aqi_nowcast') && { aqi_nowcast: indexNow(entry, index, nowMs) }),
    ...(fields?.includes('aqi_24h') && { aqi_24h: indexOfDay(entry, index, nowMs) }),
  })
  if (type === readingTypes.csv) return Buffer.from(csv(shown, jsonOf, page))
  const asMeasured = (found: Found): string => {
    const { entry, distanceM } = found
    if (fields !== undefined) return asciiJson(picked(jsonOf(found), fields))
    return board.latestTextOf(entry, index) + latestEnd(entry, { nowMs, distanceM })
  }
  const texts = shown.map((found) => {
    const text = asMeasured(found)
    if (corrections.length === 0) return text
    const better = JSON.stringify(correctedNow(found.entry, corrections))
    return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"corrections":${better}}`
  })
  // all of it is ASCII, so one byte per character
  const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
  switch (type) {
    case readingTypes.ndjson:
      return bytes(texts.map((text) => ndjsonLine(text, corrections)).join(''))
    case readingTypes.geojson:
      return bytes(
        collectionText(
          shown.map(({ entry }, at) => featureText(entry.site, texts[at] ?? '')),
          corrections,
        ),
      )
    default: {
      const used =
        corrections.length === 0
          ? ''
          : `"corrections":${JSON.stringify(correctionsJson(corrections))},`
      return bytes(
        `{"status":"success","count":${shown.length},"total":${total},"next_cursor":${JSON.stringify(next)},${used}"sensors":[${texts.join(',')}]}`,
      )
    }
  }
}

/** Of its latest reading; nulls, if it never sent one. */
function correctedNow(entry: Entry, models: readonly Correction[]): ReturnType<CorrectedOf> {
  const values = newestReading(entry)?.values ?? []
  return correctedBy(models, () => entry.sensor)({ sensor: entry.id, values })
}

const picked = (json: LatestJson, fields: readonly Field[]) =>
  Object.fromEntries(fields.map((name) => [name, json[name] ?? null]))

/**
 * A location has three columns. Quantities other than the basic five, and the distance, have one if
 * a sensor of the page has them; all that `fields` names have one.
 */
function csv(
  shown: readonly Found[],
  jsonOf: (found: Found) => LatestJson,
  { fields, corrections }: Pick<Page, 'fields' | 'corrections'>,
): string {
  const rows = shown.map(jsonOf)
  const others = new Set<Field>([...quantityNames.slice(fewestValues), 'distance_m'])
  const names =
    fields ??
    latestFields.filter((name) => !others.has(name) || rows.some((row) => row[name] !== undefined))
  const head = names.flatMap((name) => (name === 'location' ? ['lat', 'lon', 'address'] : [name]))
  const lines = rows.map((row, at) => [
    ...names.flatMap((name) => cellsOf(row, name)),
    ...correctedCells(corrections, correctedNow(shown[at]!.entry, corrections)),
  ])
  return csvText([[...head, ...correctedColumns(corrections)], ...lines])
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
