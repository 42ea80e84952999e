/**
 * Statistics of an area over time: from the roll-ups where they say what the readings say, else
 * computed from the readings and kept for a while.
 */
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import type { RollupProgress } from '../../operate/rollup-progress.ts'
import type { Cache } from '../../runtime/cache.ts'
import type { AreaStats, BucketSize, Store } from '../../store/store.ts'
import { composeStats } from './compose-stats.ts'
import { coalesce, cutPeriod, type Period } from './cut-period.ts'

export type Basis = 'readings' | 'hourly_means'

export type AreaStatistics = {
  /** undefined: no reading lies in the period. */
  readonly stats: AreaStats | undefined
  /** What median and 98th percentile are taken over. */
  readonly basis: Basis
  /**
   * Where steps were asked for: those that hold readings, oldest first; the first and the last may
   * be cut short by the period.
   */
  readonly series: readonly AreaStats[] | undefined
}

/** Where the history is read, and for whom. */
export type HistoryAsked = {
  readonly store: Pick<Store, 'within'>
  /** Aborted when nobody waits any more. */
  readonly gone: AbortSignal
  /** Visitors are given what costs little: the hours where an account is given the readings. */
  readonly isVisitor: boolean
  /** For what was computed from the readings: accounts have theirs apart, as they have their lanes. */
  readonly keep: Cache
}

/** @param area as the store calls it @throws StoreUnavailable */
export type AreaHistory = (
  asked: HistoryAsked,
  area: string,
  period: Period,
  step?: BucketSize,
) => Promise<AreaStatistics>

/** Up to this long the readings themselves are summed up. */
const longestRawMs = { account: dayMs, visitor: hourMs } as const

type Options = {
  readonly progress: Pick<RollupProgress, 'unwritten'>
  readonly nowMs: () => number
}

const stepMsOf = { hour: hourMs, day: dayMs } as const

export function createAreaHistory({ progress, nowMs }: Options): AreaHistory {
  const span = (
    asked: HistoryAsked,
    area: string,
    { fromMs, toMs }: Period,
  ): Promise<AreaStats | undefined> =>
    asked.keep(
      { what: 'span', area, fromMs, toMs },
      (gone) => asked.store.within(gone).computeOverall(area, fromMs, toMs),
      asked.gone,
    )

  const computed = (
    asked: HistoryAsked,
    area: string,
    { fromMs, toMs }: Period,
    size: BucketSize,
  ): Promise<readonly AreaStats[]> =>
    asked.keep(
      { what: 'steps', area, fromMs, toMs, size },
      (gone) => asked.store.within(gone).computeBuckets(area, fromMs, toMs, size),
      asked.gone,
    )

  /** Whole steps: what is written from the roll-ups, the rest computed, as few calls as may be. */
  const whole = async (
    asked: HistoryAsked,
    area: string,
    period: Period,
    size: BucketSize,
  ): Promise<AreaStats[]> => {
    const stepMs = stepMsOf[size]
    const unwritten = progress.unwritten(area, size)
    if (unwritten === 'all') return [...(await computed(asked, area, period, size))]
    const open = openSteps(unwritten, period, stepMs, nowMs())
    const store = asked.store.within(asked.gone)
    const read = size === 'hour' ? store.areaHours : store.areaDays
    const written =
      open.size * stepMs === period.toMs - period.fromMs
        ? []
        : await read(area, period.fromMs, period.toMs)
    const runs: AreaStats[] = []
    // one after the other: a request takes one turn of the lane at a time
    for (const run of coalesce(open, stepMs)) runs.push(...(await computed(asked, area, run, size)))
    return [...written.filter(({ startMs }) => !open.has(startMs)), ...runs].toSorted(
      (a, b) => a.startMs - b.startMs,
    )
  }

  const steps = async (
    asked: HistoryAsked,
    area: string,
    period: Period,
    size: BucketSize,
  ): Promise<AreaStats[]> => {
    const cut = cutPeriod(period, stepMsOf[size])
    const [head, middle, tail] = await Promise.all([
      cut.head && span(asked, area, cut.head),
      cut.whole ? whole(asked, area, cut.whole, size) : [],
      cut.tail && span(asked, area, cut.tail),
    ])
    return [
      ...(head && cut.head ? [{ ...head, startMs: cut.head.fromMs }] : []),
      ...middle,
      ...(tail && cut.tail ? [{ ...tail, startMs: cut.tail.fromMs }] : []),
    ]
  }

  return async (asked, area, period, step) => {
    const inSteps = step && steps(asked, area, period, step)
    const longestMs = longestRawMs[asked.isVisitor ? 'visitor' : 'account']
    if (period.toMs - period.fromMs <= longestMs) {
      const [stats, series] = await Promise.all([span(asked, area, period), inSteps])
      return { stats, basis: 'readings', series }
    }
    const hourly = step === 'hour' && inSteps ? inSteps : steps(asked, area, period, 'hour')
    const [hours, series] = await Promise.all([hourly, inSteps])
    return { stats: composeStats(hours), basis: 'hourly_means', series }
  }
}

/** The steps of the period whose roll-up may be missing or stale; the running one always. */
function openSteps(
  unwritten: ReadonlySet<number>,
  { fromMs, toMs }: Period,
  stepMs: number,
  nowMs: number,
): Set<number> {
  const steps = [...unwritten, floorTo(nowMs, stepMs)]
  return new Set(steps.filter((start) => start >= fromMs && start < toMs))
}
