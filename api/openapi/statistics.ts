/** Statistics and reports. */

import { qualityFilters, usualQuality } from '../../core/air/quality-level.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { whoLevels } from '../../core/air/who-2021.ts'
import { intervals } from '../http/intervals.ts'
import {
  arrayOf,
  cursor,
  failures,
  integer,
  integerOrNull,
  json,
  nullable,
  number,
  numberOrNull,
  object,
  oneOf,
  type path,
  query,
  read,
  ref,
  success,
  text,
  textOrNull,
  time,
  yes,
} from './parts.ts'
import { correctionsUsed, leftOut } from './schemas.ts'

const csv = { 'text/csv': { schema: text } } as const

type Parameter = ReturnType<typeof path> | ReturnType<typeof query>

/** What failed is in no average unless a request says so. */
const qualityInQuery = query(
  'quality',
  { ...oneOf(qualityFilters), default: usualQuality },
  'good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused',
)

const shared = ({ indexInQuery, correctionsInQuery, startTime, endTime, nextPage }: Parts) =>
  [
    query(
      'interval',
      { ...oneOf(intervals), default: 'day' },
      'the steps, in local time of `timezone`; `10_minutes` are made of readings, so they are 400 where only the archive has those',
    ),
    zone,
    startTime,
    endTime,
    query(
      'measurements',
      { ...text, minLength: 1 },
      'names between commas; the basic five unless given',
      { example: 'pm25,pm10' },
    ),
    query(
      'numbers',
      { ...text, minLength: 1 },
      'names between commas: of each quantity and of `aqi` only these beside `n`; all unless given',
      { example: 'mean,min,max' },
    ),
    indexInQuery,
    qualityInQuery,
    correctionsInQuery,
    query(
      'limit',
      { type: 'integer', minimum: 1, maximum: 1000, default: 366 },
      'at most this many steps, 1 to 1000; a page ends earlier where its steps are long',
    ),
    nextPage,
    formatInQuery,
  ] as const

const zone = query(
  'timezone',
  { ...text, default: 'UTC' },
  'a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight',
  { example: 'Africa/Lagos' },
)
const formatInQuery = query('format', oneOf(['json', 'csv']), 'wins over Accept')

type Parts = {
  readonly sensorInPath: Parameter
  readonly areaInPath: Parameter
  readonly boxInQuery: Parameter
  readonly indexInQuery: Parameter
  readonly correctionsInQuery: Parameter
  readonly startTime: Parameter
  readonly endTime: Parameter
  readonly nextPage: Parameter
}

const summaryOf = (of: string): string =>
  `Statistics of ${of} by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week`
const description =
  'n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of.'

export function statisticsPaths(parts: Parts) {
  const { sensorInPath, areaInPath, boxInQuery } = parts
  const parameters = shared(parts)
  const responses = {
    ...read('a page of steps', { ...json(ref('StatisticsPage')), ...csv }, { more: ['Link'] }),
    ...failures(404),
  }
  return {
    '/v1/sensors/{sensor_id}/statistics': {
      get: {
        operationId: 'statisticsOfSensor',
        tags: ['statistics'],
        summary: summaryOf('a sensor'),
        description,
        parameters: [sensorInPath, ...parameters],
        responses,
      },
    },
    '/v1/areas/{area_name}/statistics': {
      get: {
        operationId: 'statisticsOfArea',
        tags: ['statistics'],
        summary: summaryOf('an area'),
        description,
        parameters: [areaInPath, ...parameters],
        responses,
      },
    },
    '/v1/statistics': {
      get: {
        operationId: 'statisticsOfNetwork',
        tags: ['statistics'],
        summary: summaryOf('the network, or of the sensors in a box'),
        description,
        parameters: [...parameters, boxInQuery],
        responses,
      },
    },
    '/v1/sensors/{sensor_id}/report': {
      get: {
        operationId: 'reportOfSensor',
        tags: ['statistics'],
        summary: 'A year of a sensor against WHO’s guidelines of 2021',
        description: reportDescription,
        parameters: [sensorInPath, ...reportParameters, ...ofReport(parts)],
        responses: reportResponses,
      },
    },
    '/v1/areas/{area_name}/report': {
      get: {
        operationId: 'reportOfArea',
        tags: ['statistics'],
        summary: 'A year of an area against WHO’s guidelines of 2021',
        description: reportDescription,
        parameters: [areaInPath, ...reportParameters, ...ofReport(parts)],
        responses: reportResponses,
      },
    },
  } as const
}

const reportDescription =
  'Days over each level, the annual mean, completeness, and days per category of an index. A day counts if 75 % of its readings are there.'
const reportParameters = [
  query('year', { type: 'integer', minimum: 1970, maximum: 2200 }, 'of local days', {
    required: true,
    example: 2025,
  }),
  zone,
]
const ofReport = ({ indexInQuery }: Parts) => [indexInQuery, qualityInQuery, formatInQuery] as const
const reportResponses = {
  ...read('the report', { ...json(ref('Report')), ...csv }),
  ...failures(404),
}

/** Unless `numbers` names others. */
const numbers = {
  mean: numberOrNull,
  sd: { ...numberOrNull, description: 'of a sample (n − 1); null below two values' },
  min: numberOrNull,
  q02: numberOrNull,
  q25: numberOrNull,
  median: numberOrNull,
  q75: numberOrNull,
  q98: numberOrNull,
  max: numberOrNull,
} as const

const coverage = object({
  expected: integer,
  observed: { ...integer, description: 'that the numbers are of' },
  percent: numberOrNull,
})

const whoLevel = oneOf(whoLevels)

const valid = {
  ...yes,
  description: '75 % of the readings that the whole step should have are there',
} as const

export const statisticsSchemas = {
  StatisticsPage: object(
    {
      status: success,
      interval: oneOf(intervals),
      timezone: text,
      period: object({ start_time: time, end_time: time }),
      index: text,
      quality: oneOf(qualityFilters),
      basis: {
        ...oneOf(['readings', 'hourly_means']),
        description:
          'what the quantiles are of; n, mean, sd, min and max are always of the readings',
      },
      count: integer,
      next_cursor: cursor,
      statistics: arrayOf(ref('StatisticsStep')),
    },
    {
      sensor_id: text,
      area: object({ name: text, code: textOrNull }),
      bbox: text,
      sensors: { ...integer, description: 'how many are in the box now' },
      corrections: correctionsUsed,
    },
  ),
  StatisticsStep: object(
    {
      coverage,
      left_out: leftOut,
      valid,
      aqi: object(
        {
          n: integerOrNull,
          category: nullable(ref('AqiCategory')),
          dominant_pollutant: textOrNull,
        },
        numbers,
      ),
      measurements: {
        type: 'object',
        description: 'those that were asked for',
        properties: Object.fromEntries(quantityNames.map((name) => [name, ref('StepMeasurement')])),
      },
    },
    {
      start_time: time,
      end_time: time,
      local_start: { ...text, description: 'start_time with the offset of the zone' },
      hour: {
        ...integer,
        description: 'of the day, 0 to 23; with interval=hour_of_day or hour_of_week',
      },
      weekday: { ...text, description: 'monday to sunday; with interval=weekday or hour_of_week' },
      corrections: {
        type: 'object',
        description: 'by model and quantity, if `corrections` was given',
        additionalProperties: {
          type: 'object',
          additionalProperties: ref('StepMeasurement'),
        },
      },
    },
  ),
  Report: object(
    {
      status: success,
      year: integer,
      timezone: text,
      quality: oneOf(qualityFilters),
      period: object({ start_time: time, end_time: time }),
      days: object({
        in_year: integer,
        over: { ...integer, description: 'that are over and should have readings' },
      }),
      coverage,
      left_out: leftOut,
      pm25: ref('PollutantReport'),
      pm10: ref('PollutantReport'),
      index: object({
        name: text,
        title: text,
        averaging_hours: integer,
        valid_days: integer,
        categories: arrayOf(object({ category: ref('AqiCategory'), days: integer })),
      }),
    },
    { sensor_id: text, area: object({ name: text, code: textOrNull }) },
  ),
  PollutantReport: object({
    unit: text,
    valid_days: integer,
    completeness_percent: { ...numberOrNull, description: 'valid days of those that are over' },
    valid: { ...yes, description: '75 % of the days are valid' },
    annual_mean: { ...numberOrNull, description: 'of the valid days' },
    p99_of_days: numberOrNull,
    highest_day: numberOrNull,
    who_24_hours: arrayOf(object({ level: whoLevel, limit: number, days_over: integerOrNull })),
    who_year: arrayOf(
      object({ level: whoLevel, limit: number, met: { type: ['boolean', 'null'] } as const }),
    ),
  }),
  StepMeasurement: object({ n: integer, unit: text, valid }, numbers),
} as const
