/** Part of GET /v1/sensors: every sensor with its latest reading (`include=latest`), from memory. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { refusedMaskOf } from '../../core/air/quality-level.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { type Correction, shippedCorrections } from '../../schemas/corrections.ts'
import type { Answer } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import {
  type DistancePlace,
  distanceCursor,
  idCursor,
  readDistanceCursor,
  readIdCursor,
} from '../http/cursor.ts'
import { nextLink } from '../http/next-link.ts'
import { type Params, readChoice, readTime, readWord } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { findSensor } from '../live/find-sensor.ts'
import { latestFields, namedFields } from '../live/latest-json.ts'
import { distanceM } from '../live/region.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { type Entry, modifiedMs, newestReading } from '../live/sensor-now.ts'
import { readWantedCorrections } from '../readings/corrections.ts'
import { readQuality } from '../readings/filtered-page.ts'
import { type Field, type Found, writeLatest } from './latest-formats.ts'
import { readNear, readSensorFilter } from './sensor-filter.ts'

type Sources = {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly corrections?: readonly Correction[]
  readonly nowMs: () => number
}

type Wanted = {
  readonly params: Params
  readonly type: string
  readonly limit: number
  readonly index: AirIndex
}

/** Those that only `include=latest` has. */
export const latestParams = [
  'fields',
  'ids',
  'modified_since',
  'format',
  'quality',
  'corrections',
] as const

/** An address has 4,096 characters. */
const mostIds = 200

/** @throws ApiError 400 if a parameter goes only with `include=latest`, which is not given */
export function wantsLatest(params: Params): boolean {
  if (readChoice(params, 'include', ['latest']) !== undefined) return true
  const alone = latestParams.find((name) => params.has(name))
  if (alone === undefined) return false
  throw badParameter('include', undefined, `latest, without which there is no ${alone}`)
}

export function listLatest(wanted: Wanted, sources: Sources): Answer {
  const { params, type, limit, index } = wanted
  const fields = readFields(params)
  const corrections = readWantedCorrections(params, sources.corrections ?? shippedCorrections)
  const all = find(wanted, sources)
  const start = startOf(all, params, sources.rules)
  const shown = all.slice(start, start + limit)
  const last = start + limit < all.length ? shown.at(-1) : undefined
  const next = last === undefined ? null : cursorOf(last)
  const page = { shown, total: all.length, next, fields, type, index, corrections }
  return {
    type,
    body: writeLatest(page, { board: sources.board, nowMs: sources.nowMs() }),
    headers: nextLink('/v1/sensors', params, next),
  }
}

/** By distance from `near` if it is given, otherwise by id. */
function find({ params }: Wanted, sources: Sources): readonly Found[] {
  const { board, directory } = sources
  const options = { directory, isRadiusOptional: true }
  const ids = readIds(params, sources)
  const sinceMs = readTime(params, 'modified_since')
  const filter = readSensorFilter(params, options)
  const near = readNear(params, options)
  const isGoodEnough = readLatestQuality(params)
  const entries = board
    .all()
    .filter(
      (entry) =>
        (ids === undefined || ids.has(entry.sensor.id)) &&
        (sinceMs === undefined || modifiedMs(entry) >= sinceMs) &&
        isGoodEnough(entry) &&
        (filter === undefined || filter(entry)),
    )
  if (near === undefined) return entries.map((entry) => ({ entry, distanceM: undefined }))
  return entries
    .map((entry) => {
      const { lat, lon } = entry.site
      return { entry, distanceM: distanceM(near.lat, near.lon, lat, lon) }
    })
    .sort((a, b) => a.distanceM - b.distanceM || byId(a.entry.sensor, b.entry.sensor))
}

/** Of its latest reading: a sensor that has none is left out by every filter. @throws ApiError 400 */
function readLatestQuality(params: Params): (entry: Entry) => boolean {
  const quality = readQuality(params)
  if (quality === 'all') return () => true
  const refused = refusedMaskOf(quality)
  return (entry) => {
    const newest = newestReading(entry)
    return newest !== undefined && (newest.flags & refused) === 0
  }
}

const placeOf = ({ entry, distanceM = 0 }: Found): DistancePlace => ({
  distanceM,
  id: entry.sensor.id,
})

type HasId = { readonly id: string }
const byId = (a: HasId, b: HasId): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const isAfter = (place: DistancePlace, after: DistancePlace): boolean =>
  (place.distanceM - after.distanceM || byId(place, after)) > 0

/** Without a distance the order is that of the ids. */
const cursorOf = (last: Found): string =>
  last.distanceM === undefined ? idCursor(last.entry.sensor.id) : distanceCursor(placeOf(last))

/** @throws ApiError 400 for a cursor of the other order */
function startOf(all: readonly Found[], params: Params, rules: SensorIdRules): number {
  const after = params.has('near') ? readDistanceCursor(params, rules) : idPlace(params, rules)
  if (after === undefined) return 0
  const start = all.findIndex((found) => isAfter(placeOf(found), after))
  return start === -1 ? all.length : start
}

/** Without a distance all places are equally far. */
function idPlace(params: Params, rules: SensorIdRules): DistancePlace | undefined {
  const id = readIdCursor(params, rules)
  return id === undefined ? undefined : { distanceM: 0, id }
}

/** @throws ApiError 400, 404 */
function readIds(params: Params, { board, rules }: Sources): ReadonlySet<SensorId> | undefined {
  const text = readWord(params, 'ids')
  if (text === undefined) return undefined
  const names = text.split(',').map((name) => name.trim())
  if (names.length > mostIds) throw badParameter('ids', text, `at most ${mostIds} ids`)
  return new Set(
    names.map((name) => {
      const { sensor } = findSensor(board, rules, name)
      if (sensor.retiredMs === undefined) return sensor.id
      throw badParameter('ids', name, 'sensors that are in use: this one was retired')
    }),
  )
}

/** @returns undefined if all are wanted @throws ApiError 400 */
function readFields(params: Params): readonly Field[] | undefined {
  const text = readWord(params, 'fields')
  if (text === undefined) return undefined
  const listed = latestFields.filter((name) => name !== 'distance_m' || params.has('near'))
  const known = [...listed, ...namedFields]
  const names = text.split(',').map((name) => name.trim())
  const fields = names.flatMap((name) => known.find((field) => field === name) ?? [])
  if (fields.length === names.length && new Set(names).size === names.length) return fields
  throw badParameter('fields', text, `some of ${known.join(',')}, each once`)
}
