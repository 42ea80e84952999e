import type { AirIndex } from '../../core/air/index/air-index.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { dayMs, floorTo, secondMs } from '../../core/time.ts'
import type { Cache } from '../../runtime/cache.ts'
import { nothingExpired, type Retention } from '../../schemas/retention.ts'
import type { BucketSize, Store } from '../../store/store.ts'
import { type Asker, jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import { latestMs, type Params, readChoice, readPeriod } from '../http/params.ts'
import type { QueryStore } from '../http/query-store.ts'
import type { Area, AreaDirectory } from '../live/area-directory.ts'
import type { SensorBoard } from '../live/sensor-board.ts'
import type { Entry } from '../live/sensor-now.ts'
import { readView } from '../live/view.ts'
import { type AreaHistory, type AreaStatistics, inKeptHours } from './area-history.ts'
import { aqiJson, bucketJson, measurementsJson } from './area-json.ts'
import type { Period } from './cut-period.ts'
import { expectedReadings } from './expected-readings.ts'
import { findArea } from './find-area.ts'
import {
  type AreaNow,
  areaIndexNow,
  areaNow,
  areasNow,
  leftOut,
  worstSensor,
} from './network-now.ts'

type Options = {
  readonly board: SensorBoard
  readonly directory: () => AreaDirectory
  readonly history: AreaHistory
  readonly retention?: () => Retention
  /** Separate: what visitors request does not evict what accounts requested. */
  readonly keeps: { readonly accounts: Cache; readonly visitors: Cache }
  readonly queryStore: QueryStore
  readonly nowMs: () => number
  readonly indices?: readonly AirIndex[]
}

/** How old an area's numbers may be: they are computed once in this time. */
export const keptMs = 10 * secondMs

const longestMs = 5 * 366 * dayMs
const longestHourlyMs = 93 * dayMs

const entriesOf = (board: SensorBoard, area: Area): IterableIterator<Entry> =>
  board.inUse(area.isNetwork ? undefined : area.name)

/** GET /v1/areas */
export const listAreas = ({
  board,
  directory,
  nowMs,
}: Pick<Options, 'board' | 'directory' | 'nowMs'>): Route => ({
  path: '/v1/areas',
  params: [],
  types: [jsonType],
  answer: () => {
    const { network, areas } = directory()
    const names = areas.map(({ name }) => name)
    const now = areasNow(board, names, nowMs())
    const brief = ({ name, code, slug }: Area, current: AreaNow | undefined) => ({
      name,
      code,
      slug,
      ...current,
    })
    return jsonAnswer({
      status: 'success',
      count: areas.length,
      network: brief(network, now.network),
      areas: areas.map((area) => brief(area, now.areas.get(area.name))),
    })
  },
})

/** GET /v1/areas/{area_name} */
export const showArea = (options: Options): Route => ({
  path: '/v1/areas/:area_name',
  params: ['start_time', 'end_time', 'interval', 'index'],
  types: [jsonType],
  answer: async ({ names, params, asker }) => {
    const { board, keeps } = options
    // once: an answer that takes longer than its period's last ten seconds is still of now
    const nowMs = options.nowMs()
    const keep = keeps[asker.isVisitor ? 'visitors' : 'accounts']
    const area = findArea(options.directory(), names['area_name'] ?? '')
    const { index } = readView(params, options.indices)
    const interval = readChoice(params, 'interval', ['hour', 'day'])
    const exact = readAreaPeriod(params, nowMs, interval === 'hour')
    const asked = asker.isVisitor ? roundedOut(exact) : exact
    const period = inKeptHours(asked, options.retention?.() ?? nothingExpired)
    const { stats, basis, series } = await readHistory(options, asker, keep, {
      storedAs: area.storedAs,
      period,
      interval,
    })
    const entries = [...entriesOf(board, area)]
    const isNow = period.toMs > nowMs
    const nowcast = isNow
      ? await keep({ what: 'now', area: area.storedAs, index: index.name }, async () =>
          areaIndexNow(entries, index, nowMs),
        )
      : null
    return jsonAnswer({
      status: 'success',
      area: { name: area.name, code: area.code },
      period: periodJson(period, nowMs),
      ...areaNow(board, area, nowMs),
      aqi: {
        ...aqiJson(stats, index),
        nowcast,
        nowcast_left_out: isNow
          ? entries.reduce((sum, entry) => sum + leftOut(entry, nowMs), 0)
          : null,
      },
      measurements: measurementsJson(stats),
      basis,
      coverage: coverageOf(area, board, period, stats?.readings ?? 0, nowMs),
      left_out: stats === undefined ? 0 : stats.failed,
      worst_sensor: worstSensor(entries, period, index),
      ...(series && { interval, series: series.map((step) => bucketJson(step, index)) }),
    })
  },
})

/**
 * A future end is reported as the end of the current ten seconds, which is what the numbers cover.
 */
const periodJson = ({ fromMs, toMs }: Period, nowMs: number) => ({
  start_time: formatIsoMs(fromMs),
  end_time: formatIsoMs(Math.max(fromMs, Math.min(toMs, stepEndMs(nowMs)))),
})

const stepEndMs = (nowMs: number): number => floorTo(nowMs, keptMs) + keptMs

/**
 * The last 24 hours unless given. The default end is the end of the current ten seconds, so that
 * all requests within them are for the same period.
 * @throws ApiError 400
 */
function readAreaPeriod(params: Params, nowMs: number, isHourly: boolean): Period {
  const given = readPeriod(params)
  const toMs = given.toMs ?? stepEndMs(nowMs)
  const fromMs = given.fromMs ?? toMs - dayMs
  const start = params.get('start_time')
  if (fromMs >= toMs) throw badParameter('start_time', start, 'in the past')
  if (toMs - fromMs > longestMs) {
    throw badParameter('start_time', start, `at most ${longestMs / dayMs} days before end_time`)
  }
  if (isHourly && toMs - fromMs > longestHourlyMs) {
    const days = longestHourlyMs / dayMs
    throw badParameter('interval', 'hour', `day if the period is longer than ${days} days`)
  }
  return { fromMs: Math.max(0, fromMs), toMs: Math.min(latestMs, toMs) }
}

/** Visitors share whole answers, also while their line is full. @throws ApiError 503 */
async function readHistory(
  { history, queryStore }: Options,
  asker: Asker,
  keep: Cache,
  { storedAs, period, interval }: Wanted,
): Promise<AreaStatistics> {
  const { isVisitor } = asker
  const read = (store: Store, gone: AbortSignal): Promise<AreaStatistics> =>
    history({ store, gone, isVisitor, keep }, storedAs, period, interval)
  if (!isVisitor) return await queryStore(asker, read)
  const key = { what: 'whole', area: storedAs, ...period, interval }
  const shared = (store: Store, signal: AbortSignal): Promise<AreaStatistics> =>
    keep(key, (gone) => read(store, gone), signal)
  return keep.ready<AreaStatistics>(key) ?? (await queryStore(asker, shared))
}

type Wanted = {
  readonly storedAs: string
  readonly period: Period
  readonly interval: BucketSize | undefined
}

/** Visitors share answers, so their periods start and end on multiples of ten seconds. */
const roundedOut = ({ fromMs, toMs }: Period): Period => ({
  fromMs: floorTo(fromMs, keptMs),
  toMs: floorTo(toMs + keptMs - 1, keptMs),
})

function coverageOf(
  area: Area,
  board: SensorBoard,
  { fromMs, toMs }: Period,
  observed: number,
  nowMs: number,
): { readonly expected: number; readonly observed: number; readonly percent: number | null } {
  const name = area.isNetwork ? undefined : area.name
  const expected = expectedReadings(board.table().stays(name), name, {
    fromMs,
    toMs: Math.min(toMs, nowMs),
  })
  const percent =
    expected === 0 ? null : Math.min(100, Math.round((observed / expected) * 1000) / 10)
  return { expected, observed, percent }
}
