/**
 * Statistics of an area over time: from the roll-ups if they are up to date, otherwise computed
 * from the readings and cached for a while.
 */
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import type { RollupProgress } from '../../operate/rollup-progress.ts'
import type { Cache } from '../../runtime/cache.ts'
import { nothingExpired, type Retention } from '../../schemas/retention.ts'
import { areaStats, noValues, statFields } from '../../store/stat-fields.ts'
import type { AreaStats, BucketSize, Store, Unwritten } from '../../store/store.ts'
import { composeStats } from './compose-stats.ts'
import { coalesce, cutPeriod, type Period } from './cut-period.ts'

export type Basis = 'readings' | 'hourly_means'

export type AreaStatistics = {
  /** undefined: the period has no reading. */
  readonly stats: AreaStats | undefined
  /** What median and 98th percentile are computed over. */
  readonly basis: Basis
  /**
   * If steps were requested: those that hold readings, oldest first; the first and the last may be
   * cut short by the period.
   */
  readonly series: readonly AreaStats[] | undefined
}

/** Where the history is read, and for whom. */
export type HistoryRequest = {
  readonly store: Pick<Store, 'within'>
  /** Aborted when no client waits any more. */
  readonly gone: AbortSignal
  /**
   * Visitors get what costs little: hourly roll-ups where an account gets statistics of readings.
   */
  readonly isVisitor: boolean
  /**
   * Cache for what was computed from readings; accounts and visitors have separate ones, as lanes.
   */
  readonly keep: Cache
}

/** @param area as the store calls it @throws StoreUnavailable */
export type AreaHistory = (
  request: HistoryRequest,
  area: string,
  period: Period,
  step?: BucketSize,
) => Promise<AreaStatistics>

/** In whole hours as far as the readings are in the archive only: hours are kept for good. */
export function inKeptHours({ fromMs, toMs }: Period, { rawBeforeMs }: Retention): Period {
  const beforeMs = rawBeforeMs ?? 0
  if (fromMs >= beforeMs) return { fromMs, toMs }
  const endMs = toMs < beforeMs ? floorTo(toMs + hourMs - 1, hourMs) : toMs
  return { fromMs: floorTo(fromMs, hourMs), toMs: endMs }
}

/** Up to this long a period is computed from the readings themselves. */
const longestRawMs = { account: dayMs, visitor: hourMs } as const

type Options = {
  readonly progress: Pick<RollupProgress, 'unwritten'>
  readonly retention?: () => Retention
  readonly nowMs: () => number
}

const stepMsOf = { hour: hourMs, day: dayMs } as const

export function createAreaHistory({
  progress,
  retention = () => nothingExpired,
  nowMs,
}: Options): AreaHistory {
  const open = (area: string, period: Period): Unwritten => {
    const unwritten = progress.unwritten(area, 'hour')
    return unwritten === 'all' ? 'all' : openSteps(unwritten, period, hourMs, nowMs())
  }

  const span = (
    request: HistoryRequest,
    area: string,
    { fromMs, toMs }: Period,
  ): Promise<AreaStats | undefined> =>
    request.keep(
      { what: 'span', area, fromMs, toMs },
      (gone) => {
        const unwritten = open(area, { fromMs, toMs })
        return request.store.within(gone).computeOverall(area, fromMs, toMs, unwritten)
      },
      request.gone,
    )

  /** What `composeStats` makes of the hours, made where they are: most of them need no object. */
  const composed = (
    request: HistoryRequest,
    area: string,
    { fromMs, toMs }: Period,
    unwritten: ReadonlySet<number>,
  ): Promise<AreaStats | undefined> =>
    request.keep(
      { what: 'hours', area, fromMs, toMs },
      async (gone) => {
        const [whole] = await request.store.within(gone).statistics({
          of: { area },
          edges: [fromMs, toMs],
          steps: [0],
          fields: statFields,
          from: 'hour',
          unwritten,
          writtenFromMs: 0,
        })
        if (whole === undefined) return undefined
        const { readings, leftOut, fields } = whole
        const head = { startMs: fromMs, readings, failed: leftOut }
        return areaStats(area, head, (field) => fields[field] ?? noValues)
      },
      request.gone,
    )

  const computed = (
    request: HistoryRequest,
    area: string,
    { fromMs, toMs }: Period,
    size: BucketSize,
  ): Promise<readonly AreaStats[]> =>
    request.keep(
      { what: 'steps', area, fromMs, toMs, size },
      (gone) => request.store.within(gone).computeBuckets(area, fromMs, toMs, size),
      request.gone,
    )

  /**
   * Whole steps: read from the roll-ups if written, the others computed in as few calls as
   * possible.
   */
  const whole = async (
    request: HistoryRequest,
    area: string,
    period: Period,
    size: BucketSize,
  ): Promise<AreaStats[]> => {
    const stepMs = stepMsOf[size]
    const unwritten = progress.unwritten(area, size)
    if (unwritten === 'all') return [...(await computed(request, area, period, size))]
    const open = openSteps(unwritten, period, stepMs, nowMs())
    const store = request.store.within(request.gone)
    const read = size === 'hour' ? store.areaHours : store.areaDays
    const written =
      open.size * stepMs === period.toMs - period.fromMs
        ? []
        : await read(area, period.fromMs, period.toMs)
    const runs: AreaStats[] = []
    // one after the other: a request takes one turn of the lane at a time
    for (const run of coalesce(open, stepMs))
      runs.push(...(await computed(request, area, run, size)))
    return [...written.filter(({ startMs }) => !open.has(startMs)), ...runs].toSorted(
      (a, b) => a.startMs - b.startMs,
    )
  }

  const steps = async (
    request: HistoryRequest,
    area: string,
    period: Period,
    size: BucketSize,
  ): Promise<AreaStats[]> => {
    const cut = cutPeriod(period, stepMsOf[size])
    const [head, middle, tail] = await Promise.all([
      cut.head && span(request, area, cut.head),
      cut.whole ? whole(request, area, cut.whole, size) : [],
      cut.tail && span(request, area, cut.tail),
    ])
    return [
      ...(head && cut.head ? [{ ...head, startMs: cut.head.fromMs }] : []),
      ...middle,
      ...(tail && cut.tail ? [{ ...tail, startMs: cut.tail.fromMs }] : []),
    ]
  }

  return async (request, area, period, step) => {
    const inSteps = step && steps(request, area, period, step)
    const longestMs = longestRawMs[request.isVisitor ? 'visitor' : 'account']
    const isExpired = period.fromMs < (retention().rawBeforeMs ?? 0)
    if (!isExpired && period.toMs - period.fromMs <= longestMs) {
      const [stats, series] = await Promise.all([span(request, area, period), inSteps])
      return { stats, basis: 'readings', series }
    }
    const unwritten = open(area, period)
    if (step !== 'hour' && !isExpired && unwritten !== 'all') {
      const [stats, series] = await Promise.all([
        composed(request, area, period, unwritten),
        inSteps,
      ])
      return { stats, basis: 'hourly_means', series }
    }
    const hourly = step === 'hour' && inSteps ? inSteps : steps(request, area, period, 'hour')
    const [hours, series] = await Promise.all([hourly, inSteps])
    return { stats: composeStats(hours), basis: 'hourly_means', series }
  }
}

/**
 * The steps of the period whose roll-up may be missing or stale; always includes the current one.
 */
function openSteps(
  unwritten: ReadonlySet<number>,
  { fromMs, toMs }: Period,
  stepMs: number,
  nowMs: number,
): Set<number> {
  const steps = [...unwritten, floorTo(nowMs, stepMs)]
  return new Set(steps.filter((start) => start >= fromMs && start < toMs))
}
