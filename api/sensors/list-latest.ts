/** Part of GET /v1/sensors: every sensor with its latest reading (`include=latest`), from memory. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { refusedMaskOf } from '../../core/air/quality-level.ts'
import type { SensorId, SensorIdRules } from '../../core/air/sensor-id.ts'
import { type Correction, shippedCorrections } from '../../schemas/corrections.ts'
import type { Answer } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import { distanceCursor, idCursor, readDistanceCursor, readIdCursor } from '../http/cursor.ts'
import { nextLink } from '../http/next-link.ts'
import { type Params, readChoice, readTime, readWord } from '../http/params.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import { findSensor } from '../live/find-sensor.ts'
import { latestFields, namedFields } from '../live/latest-json.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { type Entry, modifiedMs, newestReading } from '../live/sensor-now.ts'
import { type Found, type FoundPage, pageByDistance, pageById } from '../live/sensor-pages.ts'
import { readWantedCorrections } from '../readings/corrections.ts'
import { readQuality } from '../readings/filtered-page.ts'
import { type Field, writeLatest } from './latest-formats.ts'
import { readNear, readSensorQuery } from './sensor-filter.ts'

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
  const { params, type, index } = wanted
  const fields = readFields(params)
  const corrections = readWantedCorrections(params, sources.corrections ?? shippedCorrections)
  const { shown, total, hasMore } = find(wanted, sources)
  const last = hasMore ? shown.at(-1) : undefined
  const next = last === undefined ? null : cursorOf(last)
  const page = { shown, total, next, fields, type, index, corrections }
  return {
    type,
    body: writeLatest(page, { board: sources.board, nowMs: sources.nowMs() }),
    headers: nextLink('/v1/sensors', params, next),
  }
}

/** By distance from `near` if it is given, otherwise by id. @throws ApiError 400, 404 */
function find({ params, limit }: Wanted, sources: Sources): FoundPage {
  const { board, directory, rules } = sources
  const options = { directory, isRadiusOptional: true }
  const ids = readIds(params, sources)
  const sinceMs = readTime(params, 'modified_since')
  const query = readSensorQuery(params, options)
  const near = readNear(params, options)
  const isGoodEnough = readLatestQuality(params)
  const isFine =
    ids === undefined && sinceMs === undefined && isGoodEnough === undefined
      ? undefined
      : (entry: Entry): boolean =>
          (ids === undefined || ids.has(entry.id)) &&
          (sinceMs === undefined || modifiedMs(entry) >= sinceMs) &&
          (isGoodEnough === undefined || isGoodEnough(entry))
  const page = { query, limit, isFine }
  if (near === undefined) return pageById(board, { ...page, after: readIdCursor(params, rules) })
  const after = readDistanceCursor(params, rules)
  return pageByDistance(board, { ...page, from: near, after })
}

/** Of its latest reading: a sensor that has none is left out by every filter. @throws ApiError 400 */
function readLatestQuality(params: Params): ((entry: Entry) => boolean) | undefined {
  const quality = readQuality(params)
  if (quality === 'all') return undefined
  const refused = refusedMaskOf(quality)
  return (entry) => {
    const newest = newestReading(entry)
    return newest !== undefined && (newest.flags & refused) === 0
  }
}

/** Without a distance the order is that of the ids. */
const cursorOf = ({ entry: { id }, distanceM }: Found): string =>
  distanceM === undefined ? idCursor(id) : distanceCursor({ distanceM, id })

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
