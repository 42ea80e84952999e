/** GET /v1/sensors/{id}/statistics, /v1/areas/{name}/statistics and /v1/statistics. */
import type { AirIndex } from '../../core/air/index/air-index.ts'
import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { startOfStep } from '../../core/local-time.ts'
import { floorTo } from '../../core/time.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { keptMs } from '../areas/areas.ts'
import { type Answer, jsonType, type Request, type Route } from '../http/answer.ts'
import { freshSeconds } from '../http/fresh-seconds.ts'
import { nextLink } from '../http/next-link.ts'
import type { AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import { correctionsJson } from '../readings/corrections.ts'
import { readingTypes } from '../readings/reading-formats.ts'
import { askStore, measuredPart, type StatisticsStore } from './ask-store.ts'
import { expectedCount } from './expected-count.ts'
import {
  readStatistics,
  statisticsCursor,
  statisticsParams,
  stepOf,
  tableType,
} from './read-request.ts'
import { fieldsFor, stepsCsv, stepsJson } from './statistics-json.ts'
import { areaTarget, networkTarget, sensorTarget, type Target } from './targets.ts'

export type StatisticsOptions = StatisticsStore & {
  readonly board: SensorBoard
  readonly rules: SensorIdRules
  readonly directory: () => AreaDirectory
  readonly indices?: readonly AirIndex[]
  readonly corrections?: readonly Correction[]
}

const types = [jsonType, readingTypes.csv]

export const statisticsRoutes = (options: StatisticsOptions): readonly Route[] => [
  {
    path: '/v1/sensors/:sensor_id/statistics',
    params: statisticsParams,
    types,
    typeOf: tableType,
    answer: async (request) => {
      const target = sensorTarget(options, request.names['sensor_id'] ?? '')
      return statisticsOf(options, request, target, `/v1/sensors/${request.names['sensor_id']}`)
    },
  },
  {
    path: '/v1/areas/:area_name/statistics',
    params: statisticsParams,
    types,
    typeOf: tableType,
    answer: async (request) => {
      const name = request.names['area_name'] ?? ''
      const target = areaTarget(options, name)
      return statisticsOf(options, request, target, `/v1/areas/${encodeURIComponent(name)}`)
    },
  },
  {
    path: '/v1/statistics',
    params: [...statisticsParams, 'bbox'],
    types,
    typeOf: tableType,
    answer: async (request) =>
      statisticsOf(options, request, networkTarget(options, request.params), '/v1'),
  },
]

async function statisticsOf(
  options: StatisticsOptions,
  { params, asker, type }: Request,
  target: Target,
  place: string,
): Promise<Answer> {
  const nowMs = options.nowMs()
  // all requests within ten seconds are for the same period
  const wanted = readStatistics(params, floorTo(nowMs, keptMs) + keptMs, options)
  const {
    interval,
    zone,
    measurements,
    numbers,
    index,
    quality,
    corrections,
    limit,
    fromCursorMs,
  } = wanted
  const expected = expectedCount(target.sensors, target.area)
  const { fromMs, toMs } = wanted.period
  const part = await measuredPart(options, asker, target, wanted.period)
  const beginMs = part.fromMs > fromMs ? startOfStep(part.fromMs, stepOf[interval], zone) : fromMs
  const whole = { fromMs: Math.max(fromMs, beginMs), toMs: part.toMs }
  const period = { ...whole, fromMs: fromCursorMs ?? whole.fromMs }
  const fields = fieldsFor(measurements)
  const found = await askStore(options, asker, {
    target,
    interval,
    zone,
    whole,
    period,
    limit,
    fields,
    expected,
    quality,
    corrections,
  })
  const shown = {
    found,
    interval,
    zone,
    measurements,
    numbers,
    index,
    corrections,
    expected,
    nowMs,
  }
  const rows = stepsJson(shown)
  const { nextMs } = found.grid
  const cursor = nextMs === undefined ? null : statisticsCursor(nextMs)
  const body =
    type === readingTypes.csv
      ? stepsCsv(rows, interval, measurements, numbers, corrections)
      : JSON.stringify({
          status: 'success',
          ...target.about,
          interval,
          timezone: zone,
          period: { start_time: formatIsoMs(fromMs), end_time: formatIsoMs(toMs) },
          index: index.name,
          quality,
          basis: found.basis,
          ...(corrections.length > 0 && { corrections: correctionsJson(corrections) }),
          count: rows.length,
          next_cursor: cursor,
          statistics: rows,
        })
  return {
    type,
    body: Buffer.from(body),
    freshSeconds: freshSeconds(nextMs ?? toMs, nowMs),
    headers: nextLink(`${place}/statistics`, params, cursor),
  }
}
