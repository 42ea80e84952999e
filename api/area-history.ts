/**
 * Statistics of an area over time: from the roll-ups where they say what the readings say, else
 * computed from the readings and kept for a while.
 */
import { dayMs, floorTo, hourMs } from '../core/time.ts'
import type { AreaStats, BucketSize, Store } from '../store/store.ts'
import { composeStats } from './compose-stats.ts'
import { coalesce, cutPeriod, type Period } from './cut-period.ts'
import type { Keep } from './keep.ts'
import type { RollupProgress } from './rollup-progress.ts'

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

/** @param area as the store calls it @throws StoreUnavailable */
export type AreaHistory = (
  area: string,
  period: Period,
  step?: BucketSize,
) => Promise<AreaStatistics>

/** Up to this long the readings themselves are summed up. */
export const longestRawMs = dayMs

type Options = {
  readonly store: Pick<Store, 'computeOverall' | 'computeBuckets' | 'areaHours' | 'areaDays'>
  readonly progress: Pick<RollupProgress, 'unwritten'>
  /** For what was computed from the readings. */
  readonly keep: Keep
  readonly nowMs: () => number
}

const stepMsOf = { hour: hourMs, day: dayMs } as const

export function createAreaHistory({ store, progress, keep, nowMs }: Options): AreaHistory {
  const span = (area: string, { fromMs, toMs }: Period): Promise<AreaStats | undefined> =>
    keep(`span ${fromMs} ${toMs} ${area}`, () => store.computeOverall(area, fromMs, toMs))

  const computed = (area: string, { fromMs, toMs }: Period, size: BucketSize) =>
    keep(`${size} ${fromMs} ${toMs} ${area}`, () => store.computeBuckets(area, fromMs, toMs, size))

  /** Whole steps: what is written from the roll-ups, the rest computed, as few calls as may be. */
  const whole = async (area: string, period: Period, size: BucketSize): Promise<AreaStats[]> => {
    const stepMs = stepMsOf[size]
    const unwritten = progress.unwritten(area, size)
    if (unwritten === 'all') return [...(await computed(area, period, size))]
    const open = openSteps(unwritten, period, stepMs, nowMs())
    const read = size === 'hour' ? store.areaHours : store.areaDays
    const [written, ...runs] = await Promise.all([
      open.size * stepMs === period.toMs - period.fromMs
        ? []
        : read(area, period.fromMs, period.toMs),
      ...coalesce(open, stepMs).map((run) => computed(area, run, size)),
    ])
    return [...written.filter(({ startMs }) => !open.has(startMs)), ...runs.flat()].toSorted(
      (a, b) => a.startMs - b.startMs,
    )
  }

  const steps = async (area: string, period: Period, size: BucketSize): Promise<AreaStats[]> => {
    const cut = cutPeriod(period, stepMsOf[size])
    const [head, middle, tail] = await Promise.all([
      cut.head && span(area, cut.head),
      cut.whole ? whole(area, cut.whole, size) : [],
      cut.tail && span(area, cut.tail),
    ])
    return [
      ...(head && cut.head ? [{ ...head, startMs: cut.head.fromMs }] : []),
      ...middle,
      ...(tail && cut.tail ? [{ ...tail, startMs: cut.tail.fromMs }] : []),
    ]
  }

  return async (area, period, step) => {
    const asked = step && steps(area, period, step)
    if (period.toMs - period.fromMs <= longestRawMs) {
      const [stats, series] = await Promise.all([span(area, period), asked])
      return { stats, basis: 'readings', series }
    }
    const hourly = step === 'hour' && asked ? asked : steps(area, period, 'hour')
    const [hours, series] = await Promise.all([hourly, asked])
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
