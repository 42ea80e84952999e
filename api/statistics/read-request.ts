/** The parameters of statistics. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import { type QualityFilter, usualQuality } from '../../core/air/quality-level.ts'
import { basicNames, type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import {
  clockSteps,
  instantOfLocal,
  isClockStep,
  type LocalStep,
  startOfStep,
  type TimeZone,
  timeZoneOf,
  utc,
} from '../../core/local-time.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { type Correction, shippedCorrections } from '../../schemas/corrections.ts'
import type { Period } from '../areas/cut-period.ts'
import { badParameter } from '../http/api-error.ts'
import { type Interval, intervals } from '../http/intervals.ts'
import { instantIn, latestMs, type Params, readChoice, readWhole } from '../http/params.ts'
import { readView } from '../live/view.ts'
import { readWantedCorrections } from '../readings/corrections.ts'
import { readQuality } from '../readings/filtered-page.ts'
import { typeOfFormat } from '../readings/reading-formats.ts'

export const statisticsParams = [
  'interval',
  'timezone',
  'start_time',
  'end_time',
  'measurements',
  'numbers',
  'index',
  'quality',
  'corrections',
  'limit',
  'cursor',
  'format',
] as const

export type StatisticsRequest = {
  readonly interval: Interval
  readonly zone: TimeZone
  readonly period: Period
  readonly measurements: readonly QuantityName[]
  readonly numbers: readonly NumberName[]
  readonly index: AirIndex
  readonly quality: QualityFilter
  readonly corrections: readonly Correction[]
  /** At most this many steps. */
  readonly limit: number
  /** Where the page before ended. */
  readonly fromCursorMs: number | undefined
}

/** The numbers of a quantity in a step, beside `n`. */
export const numberNames = [
  'mean',
  'sd',
  'min',
  'q02',
  'q25',
  'median',
  'q75',
  'q98',
  'max',
] as const
export type NumberName = (typeof numberNames)[number]

/** Steps that follow one another; the other intervals gather them from a whole period. */
export const stepOf: Readonly<Record<Interval, LocalStep>> = {
  '10_minutes': '10_minutes',
  hour: 'hour',
  '3_hours': '3_hours',
  day: 'day',
  month: 'month',
  year: 'year',
  hour_of_day: 'hour',
  weekday: 'day',
  hour_of_week: 'hour',
}

/** How far back a period goes if only its end is known. */
const usualDays: Readonly<Record<Interval, number>> = {
  '10_minutes': 1,
  hour: 1,
  '3_hours': 7,
  day: 30,
  month: 365,
  year: 5 * 365,
  hour_of_day: 28,
  weekday: 28,
  hour_of_week: 28,
}

/** A year of days. */
const usualLimit = 366

/** Nothing that is written has its parts, so it is made of readings. */
export function isShort(interval: Interval): boolean {
  const step = stepOf[interval]
  return isClockStep(step) && clockSteps[step] < hourMs
}

const gathered = ['hour_of_day', 'weekday', 'hour_of_week'] as const satisfies readonly Interval[]
export type Gathered = (typeof gathered)[number]

export const isGathered = (interval: Interval): interval is Gathered =>
  gathered.some((name) => name === interval)

/** JSON and CSV. @throws ApiError 400 */
export function tableType(params: Params): string | undefined {
  readChoice(params, 'format', ['json', 'csv'])
  return typeOfFormat(params)
}

/** @param nowMs the end of what is known @throws ApiError 400 */
export function readStatistics(
  params: Params,
  nowMs: number,
  known: { readonly indices?: readonly AirIndex[]; readonly corrections?: readonly Correction[] },
): StatisticsRequest {
  const interval = readChoice(params, 'interval', intervals) ?? 'day'
  const zone = readZone(params)
  const period = readLocalPeriod(params, { interval, zone, nowMs })
  if (isGathered(interval)) {
    for (const name of ['limit', 'cursor'])
      if (params.has(name))
        throw badParameter(
          name,
          params.get(name),
          `left out with interval=${interval}: it has one page`,
        )
  }
  return {
    interval,
    zone,
    period,
    measurements: readNames(params, 'measurements', quantityNames) ?? basicNames,
    numbers: readNames(params, 'numbers', numberNames) ?? numberNames,
    index: readView(params, known.indices).index,
    quality: readQuality(params, usualQuality),
    corrections: readWantedCorrections(params, known.corrections ?? shippedCorrections),
    limit: readWhole(params, 'limit', { min: 1, max: 1000, otherwise: usualLimit }),
    fromCursorMs: readCursor(params, period),
  }
}

/** @throws ApiError 400 */
export function readZone(params: Params): TimeZone {
  const name = params.get('timezone')
  const zone = name === undefined ? utc : timeZoneOf(name)
  if (zone === undefined)
    throw badParameter(
      'timezone',
      name,
      'a name of the IANA time zones, such as Africa/Lagos or UTC',
    )
  return zone
}

/** @throws ApiError 400 */
function readNames<Name extends string>(
  params: Params,
  param: string,
  known: readonly Name[],
): readonly Name[] | undefined {
  const text = params.get(param)
  if (text === undefined) return undefined
  const names = text.split(',').map((given) => known.find((name) => name === given.trim()))
  if (!names.includes(undefined) && new Set(names).size === names.length)
    return names.filter((name) => name !== undefined)
  throw badParameter(param, text, `names between commas, each once, of ${known.join(', ')}`)
}

type Bounds = { readonly interval: Interval; readonly zone: TimeZone; readonly nowMs: number }

/** A time without an offset is one of the zone, so a date is the start of its day there. */
function readLocalPeriod(params: Params, { interval, zone, nowMs }: Bounds): Period {
  const given = readLocalTime(params, 'end_time', zone)
  const toMs = given ?? nowMs
  const step = stepOf[interval]
  const fromMs =
    readLocalTime(params, 'start_time', zone) ??
    startOfStep(
      Math.max(0, toMs - usualDays[interval] * dayMs),
      isClockStep(step) ? step : 'day',
      zone,
    )
  if (fromMs < toMs) return { fromMs, toMs }
  const name = given === undefined ? 'start_time' : 'end_time'
  throw badParameter(
    name,
    params.get(name),
    given === undefined ? 'in the past' : 'later than start_time',
  )
}

/** @throws ApiError 400 */
function readLocalTime(params: Params, name: string, zone: TimeZone): number | undefined {
  const text = params.get(name)
  if (text === undefined) return undefined
  const asUtcMs = instantIn(text)
  const timeMs = asUtcMs === undefined || hasOffset(text) ? asUtcMs : instantOfLocal(asUtcMs, zone)
  if (timeMs !== undefined && timeMs >= 0 && timeMs <= latestMs) return timeMs
  throw badParameter(
    name,
    text,
    'an ISO 8601 time between 1970 and 2200, for example 2026-01-31T08:00:00Z, or a date',
  )
}

/** An offset comes after the time of day; a + that was not encoded arrives as a space. */
const hasOffset = (text: string): boolean => /[zZ]$|[+\- ]\d{2}(:?\d{2})?$/.test(text.slice(11))

/** The next page begins where this one ends. */
export const statisticsCursor = (timeMs: number): string =>
  Buffer.from(`t:${timeMs}`).toString('base64url')

/** @throws ApiError 400 */
function readCursor(params: Params, { fromMs, toMs }: Period): number | undefined {
  const text = params.get('cursor')
  if (text === undefined) return undefined
  const [, time = ''] =
    /^t:(\d{1,15})$/.exec(Buffer.from(text.slice(0, 64), 'base64url').toString('latin1')) ?? []
  const timeMs = Number(time)
  if (time === '' || timeMs <= fromMs || timeMs >= toMs)
    throw badParameter('cursor', text, 'a next_cursor of an earlier answer')
  return timeMs
}
