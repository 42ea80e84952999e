/** How steps of statistics are asked of the store, and within which bounds. */

import { isOfKind } from '../../core/air/correction-model.ts'
import { type QualityFilter, usualQuality } from '../../core/air/quality-level.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import type { TimeZone } from '../../core/local-time.ts'
import { dayMs, floorTo, futureToleranceMs, hourMs } from '../../core/time.ts'
import type { RollupProgress } from '../../operate/rollup-progress.ts'
import type { Cache } from '../../runtime/cache.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { kindOf } from '../../schemas/devices/registered-sensor.ts'
import type { Retention } from '../../schemas/retention.ts'
import type { StatCorrection, StatField, StatQuery, StepStats, Store } from '../../store/store.ts'
import { withoutExpired } from '../../store/with-expired.ts'
import type { Period } from '../areas/cut-period.ts'
import type { Asker } from '../http/answer.ts'
import { type ApiError, badParameter } from '../http/api-error.ts'
import type { Interval } from '../http/intervals.ts'
import type { QueryStore } from '../http/query-store.ts'
import type { ExpectedCount } from './expected-count.ts'
import { isGathered, isShort } from './read-request.ts'
import { type Basis, basisOf, type Grid, hoursIn, sourceOf, stepGrid } from './step-grid.ts'
import type { Target } from './targets.ts'

export type StatisticsStore = {
  readonly queryStore: QueryStore
  readonly progress: Pick<RollupProgress, 'unwritten' | 'sensorsFromMs'>
  /** Separate: what visitors request does not evict what accounts requested. */
  readonly keeps: { readonly accounts: Cache; readonly visitors: Cache }
  readonly retention: () => Retention
  readonly nowMs: () => number
}

type Wanted = {
  readonly target: Target
  readonly interval: Interval
  readonly zone: TimeZone
  /** Of all pages: every one of them is made in the same way. */
  readonly whole: Period
  /** From this page on. */
  readonly period: Period
  readonly limit: number
  /** All of it is one answer: a period of too many readings is refused, and not cut into pages. */
  readonly isWhole?: boolean
  readonly fields: readonly StatField[]
  readonly expected: ExpectedCount
  readonly quality: QualityFilter
  readonly corrections: readonly Correction[]
}

export type Found = {
  readonly grid: Grid
  readonly basis: Basis
  readonly steps: readonly StepStats[]
}

/** Up to this many readings are read for an account's answer; for a visitor none that hours can replace. */
const mostReadings = 20_000
/**
 * Rows that a page reads: written hours over all of its sensors, or readings if hours do not do. A step
 * may be longer by itself.
 */
const pageRows = { account: 200_000, visitor: 20_000 } as const
/** Beyond it a step, or a period that is gathered, is refused: 2 s of the store. */
const mostRows = { account: 1_000_000, visitor: 100_000 } as const
const longestGatheredMs = 1_830 * dayMs
/** The readings of a page whose steps are all made of readings. */
const pageReadings = 200_000

/** @throws ApiError 400, 503 */
export async function askStore(
  store: StatisticsStore,
  asker: Asker,
  wanted: Wanted,
): Promise<Found> {
  const { target, interval, zone, whole, period, limit, fields, expected, quality } = wanted
  // hours and days are written of the usual readings, as they were measured
  const isWritten = quality === usualQuality && wanted.corrections.length === 0
  const who = asker.isVisitor ? 'visitor' : 'account'
  if (isGathered(interval)) checkGathered(period)
  const readings = expected(whole.fromMs, whole.toMs)
  const isFew = !asker.isVisitor && readings <= mostReadings
  const sources = isWritten ? Math.max(1, target.sources) : 1
  const gridOf = (longestMs: number): Grid => stepGrid({ interval, zone, period, limit, longestMs })
  const ofReadings = (count: number): Grid =>
    gridOf(
      wanted.isWhole === true
        ? Infinity
        : Math.max(hourMs, ((whole.toMs - whole.fromMs) * count) / readings),
    )
  let grid = isWritten ? gridOf((pageRows[who] / sources) * hourMs) : ofReadings(pageRows[who])
  if (grid.steps.length === 0)
    return { grid, basis: basisOf('readings', interval, sources), steps: [] }
  const from = sourceOf(grid, { interval, zone, isFew })
  if (from === 'readings' && !isFew && isWritten) grid = ofReadings(pageReadings)
  const page = { fromMs: grid.edges[0] ?? period.fromMs, toMs: grid.edges.at(-1) ?? period.toMs }
  // what the archive alone has is in no answer: its steps are made of hours, and begin and end with them
  const beforeMs = store.retention().rawBeforeMs ?? 0
  const isExpired = page.fromMs < beforeMs
  if (isExpired && isShort(interval))
    throw badParameter('interval', interval, `hour or longer ${archivedOnly(beforeMs)}`)
  if (isWritten) checkHours(interval, hoursIn(page) * sources, mostRows[who])
  else {
    if (isExpired) throw onlyArchived(wanted, beforeMs)
    checkReadings(
      interval,
      expected(page.fromMs, Math.min(page.toMs, store.nowMs())),
      mostRows[who],
    )
  }
  const wantedOf = (source: StatQuery['from']): StatQuery => ({
    of: target.of,
    edges: grid.edges,
    steps: grid.steps,
    fields,
    from: source,
    quality,
    corrections: wanted.corrections.map((model) => forSensors(model, target)),
    ...writtenOf(store, target, source, page),
  })
  const query = isExpired
    ? withoutExpired(wantedOf(sourceOf(grid, { interval, zone, isFew: false })), beforeMs)
    : wantedOf(from)
  grid = { ...grid, edges: query.edges }
  const read = (reader: Store, signal: AbortSignal): Promise<readonly StepStats[]> =>
    reader.within(signal).statistics(query)
  const basis = basisOf(query.from, interval, sources)
  if (!asker.isVisitor) return { grid, basis, steps: await store.queryStore(asker, read) }
  const key = {
    what: 'statistics',
    of: JSON.stringify(target.of),
    ...page,
    fields: fields.join(),
    interval,
    zone,
    quality,
    corrections: wanted.corrections.map(({ hash }) => hash).join(),
  }
  const keep = store.keeps.visitors
  const shared = (reader: Store, signal: AbortSignal): Promise<readonly StepStats[]> =>
    keep(key, (gone) => read(reader, gone), signal)
  const steps = keep.ready<readonly StepStats[]>(key) ?? (await store.queryStore(asker, shared))
  return { grid, basis, steps }
}

/**
 * The part of a period in which there can be readings, so that no page is of years before the first or
 * after the present. Before its sensors were set up there is only what an operator replayed.
 * @throws ApiError 503
 */
export async function measuredPart(
  { queryStore, nowMs }: StatisticsStore,
  asker: Asker,
  { sensors, of }: Target,
  period: Period,
): Promise<Period> {
  const toMs = Math.min(period.toMs, nowMs() + futureToleranceMs)
  let begun = toMs
  for (const { sites } of sensors) begun = Math.min(begun, sites[0].fromMs)
  if (period.fromMs >= begun) return { fromMs: period.fromMs, toMs }
  const [oldest] = await queryStore(asker, (store, signal) => {
    const { range, rangeAll } = store.within(signal)
    const [only, ...others] = 'sensors' in of ? of.sensors : []
    return only === undefined || others.length > 0
      ? rangeAll(period.fromMs, begun, 1, undefined, 'asc')
      : range(only, period.fromMs, begun, 1, 'asc')
  })
  return { fromMs: oldest?.timeMs ?? begun, toMs }
}

/** @throws ApiError 400 */
function checkGathered({ fromMs, toMs }: Period): void {
  if (toMs - fromMs <= longestGatheredMs) return
  throw badParameter(
    'start_time',
    formatIsoMs(fromMs),
    `at most ${longestGatheredMs / dayMs} days before end_time with this interval`,
  )
}

/** @throws ApiError 400 */
function checkHours(interval: Interval, hours: number, most: number): void {
  if (hours <= most) return
  throw badParameter(
    'interval',
    interval,
    `shorter, or the period, or the box smaller: ${Math.ceil(hours)} hours of sensors would be read for one answer, and ${most} may be`,
  )
}

/** @throws ApiError 400 */
function checkReadings(interval: Interval, readings: number, most: number): void {
  if (readings <= most) return
  throw badParameter(
    'interval',
    interval,
    `shorter, or the period, or the area smaller: with this quality or corrections ${readings} readings would be read for one answer, and ${most} may be`,
  )
}

/** Its readings are not in the store, and hours are of the usual ones. */
function onlyArchived({ quality, corrections }: Wanted, beforeMs: number): ApiError {
  const [name, given] =
    quality === usualQuality
      ? ['corrections', corrections.map((model) => model.name).join()]
      : ['quality', quality]
  return badParameter(name, given, `left out ${archivedOnly(beforeMs)}`)
}

const archivedOnly = (beforeMs: number): string =>
  `for what was measured before ${formatIsoMs(beforeMs)}: those readings are in the archive only`

const forSensors = (model: Correction, { sensors }: Target): StatCorrection => ({
  model,
  without: [...sensors].filter((sensor) => !isOfKind(model, kindOf(sensor))).map(({ id }) => id),
})

/** What of the page is not written. */
function writtenOf(
  { progress, nowMs }: StatisticsStore,
  { of, rollups }: Target,
  from: StatQuery['from'],
  { fromMs, toMs }: Period,
): Pick<StatQuery, 'unwritten' | 'writtenFromMs'> {
  if (from === 'readings') return { unwritten: new Set(), writtenFromMs: 0 }
  const sizeMs = from === 'hour' ? hourMs : dayMs
  const unwritten = progress.unwritten(rollups, from)
  const writtenFromMs = 'sensors' in of ? progress.sensorsFromMs() : 0
  if (unwritten === 'all') return { unwritten, writtenFromMs }
  // the step that runs has none yet; later ones are of clocks that run ahead
  const running = floorTo(nowMs(), sizeMs)
  const open = [...unwritten, running, running + sizeMs]
  return {
    unwritten: new Set(open.filter((start) => start >= fromMs - sizeMs && start < toMs)),
    writtenFromMs,
  }
}
