/**
 * GET /v1/sensors/{id}/report and /v1/areas/{name}/report: the local days of a year against WHO's
 * guidelines of 2021, and by the categories of an index.
 */
import { type AirIndex, type Pollutant, pollutants } from '../../core/air/index/air-index.ts'
import { percentile } from '../../core/air/percentile.ts'
import { usualQuality } from '../../core/air/quality-level.ts'
import { units } from '../../core/air/quantities.ts'
import { isOver, type WhoLevel, whoDay, whoLevels, whoYear } from '../../core/air/who-2021.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { yearOf, yearSpan } from '../../core/local-time.ts'
import type { StepStats } from '../../store/store.ts'
import { rounded } from '../areas/area-json.ts'
import { type Answer, jsonType, type Request, type Route } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import { freshSeconds } from '../http/fresh-seconds.ts'
import { readWhole } from '../http/params.ts'
import { readView } from '../live/view.ts'
import { readQuality } from '../readings/filtered-page.ts'
import { csvText, readingTypes } from '../readings/reading-formats.ts'
import { askStore, type Found } from './ask-store.ts'
import { type ExpectedCount, expectedCount } from './expected-count.ts'
import { readZone, tableType } from './read-request.ts'
import type { StatisticsOptions } from './statistics.ts'
import { coverageJson, neededCoverage } from './statistics-json.ts'
import { areaTarget, sensorTarget, type Target } from './targets.ts'

const params = ['year', 'timezone', 'index', 'quality', 'format'] as const
const types = [jsonType, readingTypes.csv]
const mostDays = 366

export const reportRoutes = (options: StatisticsOptions): readonly Route[] => [
  {
    path: '/v1/sensors/:sensor_id/report',
    params,
    types,
    typeOf: tableType,
    answer: async (request) =>
      reportOf(options, request, sensorTarget(options, request.names['sensor_id'] ?? '')),
  },
  {
    path: '/v1/areas/:area_name/report',
    params,
    types,
    typeOf: tableType,
    answer: async (request) =>
      reportOf(options, request, areaTarget(options, request.names['area_name'] ?? '')),
  },
]

async function reportOf(
  options: StatisticsOptions,
  { params: given, asker, type }: Request,
  target: Target,
): Promise<Answer> {
  const nowMs = options.nowMs()
  const zone = readZone(given)
  const { index } = readView(given, options.indices)
  const quality = readQuality(given, usualQuality)
  if (!given.has('year')) throw badParameter('year', undefined, 'a year, such as 2025')
  const year = readWhole(given, 'year', { min: 1970, max: yearOf(nowMs, zone), otherwise: 0 })
  const period = yearSpan(year, zone)
  const expected = expectedCount(target.sensors, target.area)
  const found = await askStore(options, asker, {
    target,
    interval: 'day',
    zone,
    whole: period,
    period,
    limit: mostDays,
    isWhole: true,
    fields: pollutants,
    expected,
    quality,
    corrections: [],
  })
  const days = daysOf(found, expected, nowMs)
  const leftOut = sumOf(found.steps.map((step) => step.leftOut))
  const report = {
    ...target.about,
    year,
    timezone: zone,
    quality,
    period: { start_time: formatIsoMs(period.fromMs), end_time: formatIsoMs(period.toMs) },
    days: { in_year: found.grid.numbers.length, over: days.length },
    coverage: coverageJson(
      expected(period.fromMs, Math.min(period.toMs, nowMs)),
      found.steps.reduce((sum, { readings }) => sum + readings, 0),
    ),
    left_out: leftOut,
    ...Object.fromEntries(
      pollutants.map((pollutant) => [pollutant, pollutantJson(pollutant, days)]),
    ),
    index: indexJson(index, days),
  }
  const isCsv = type === readingTypes.csv
  return {
    type,
    body: Buffer.from(
      isCsv ? csv(days, index, year, leftOut) : JSON.stringify({ status: 'success', ...report }),
    ),
    freshSeconds: freshSeconds(period.toMs, nowMs),
  }
}

/** null, if one is not known. */
const sumOf = (counts: readonly (number | null)[]): number | null =>
  counts.reduce<number | null>(
    (sum, count) => (sum === null || count === null ? null : sum + count),
    0,
  )

type Day = {
  /** Means of the pollutants that have enough readings, in µg/m³. */
  readonly means: { readonly [P in Pollutant]: number | null }
}

/** Those that are over, and in which a reading was expected or came. */
function daysOf({ grid, steps }: Found, expected: ExpectedCount, nowMs: number): Day[] {
  const byStep = new Map(steps.map((step) => [step.step, step]))
  return grid.numbers.flatMap((number): Day[] => {
    const fromMs = grid.edges[number]!
    const toMs = grid.edges[number + 1]!
    if (toMs > nowMs) return []
    const step = byStep.get(number)
    const due = expected(fromMs, toMs)
    if (step === undefined && due === 0) return []
    return [{ means: { pm25: meanOf(step, 'pm25', due), pm10: meanOf(step, 'pm10', due) } }]
  })
}

function meanOf(step: StepStats | undefined, pollutant: Pollutant, due: number): number | null {
  const { n = 0, mean = null } = step?.fields[pollutant] ?? {}
  return due > 0 && n >= neededCoverage * due ? mean : null
}

const present = (days: readonly Day[], pollutant: Pollutant): number[] =>
  days.map(({ means }) => means[pollutant]).filter((mean) => mean !== null)

type LevelJson = {
  readonly level: WhoLevel
  readonly limit: number
  readonly days_over: number | null
}

function pollutantJson(pollutant: Pollutant, days: readonly Day[]) {
  const means = present(days, pollutant)
  const year = means.length === 0 ? null : means.reduce((sum, mean) => sum + mean, 0) / means.length
  const isComplete = days.length > 0 && means.length >= neededCoverage * days.length
  const sorted = means.toSorted((a, b) => a - b)
  return {
    unit: units[pollutant],
    valid_days: means.length,
    completeness_percent:
      days.length === 0 ? null : Math.round((means.length / days.length) * 1000) / 10,
    valid: isComplete,
    annual_mean: rounded(year),
    p99_of_days: rounded(percentile(sorted, 99)),
    highest_day: rounded(sorted.at(-1) ?? null),
    who_24_hours: whoLevels.map((level): LevelJson => {
      const limit = whoDay[pollutant][level]
      const over = means.filter((mean) => isOver(mean, limit)).length
      // no day over the limit, and no day that is known, are not the same
      return { level, limit, days_over: means.length === 0 ? null : over }
    }),
    who_year: whoLevels.map((level) => {
      const limit = whoYear[pollutant][level]
      return { level, limit, met: year === null ? null : !isOver(year, limit) }
    }),
  }
}

/** The index of the day's means: of both pollutants, or of the one that is there. */
const indexOf = (index: AirIndex, { means }: Day): number | null =>
  index.worstOf((pollutant) => means[pollutant])?.value ?? null

function indexJson(index: AirIndex, days: readonly Day[]) {
  const values = days.map((day) => indexOf(index, day))
  const categories = [...new Set(index.bands.map(({ category }) => category))]
  return {
    name: index.name,
    title: index.title,
    averaging_hours: index.averagingHours,
    valid_days: values.filter((value) => value !== null).length,
    categories: categories.map((category) => ({
      category,
      days: values.filter((value) => value !== null && index.categoryOf(value) === category).length,
    })),
  }
}

/** A row per number: what is counted, of which pollutant or index, against which limit. */
function csv(days: readonly Day[], index: AirIndex, year: number, leftOut: number | null): string {
  const rows: (readonly unknown[])[] = [
    ['year', 'what', 'of', 'level', 'limit', 'value'],
    [year, 'left_out', '', '', '', leftOut ?? ''],
  ]
  for (const pollutant of pollutants) {
    const of = pollutantJson(pollutant, days)
    for (const name of [
      'valid_days',
      'completeness_percent',
      'annual_mean',
      'p99_of_days',
      'highest_day',
    ] as const)
      rows.push([year, name, pollutant, '', '', of[name] ?? ''])
    for (const { level, limit, days_over } of of.who_24_hours)
      rows.push([year, 'days_over_who_24_hours', pollutant, level, limit, days_over ?? ''])
    for (const { level, limit, met } of of.who_year)
      rows.push([year, 'meets_who_year', pollutant, level, limit, met ?? ''])
  }
  for (const { category, days: count } of indexJson(index, days).categories)
    rows.push([year, 'days_of_category', index.name, category, '', count])
  return csvText(rows)
}
