/** The steps of one answer, in local time. */
import {
  hoursOfDay,
  hoursOfWeek,
  isAligned,
  startOfStep,
  stepStarts,
  type TimeZone,
  weekday,
} from '../../core/local-time.ts'
import { hourMs } from '../../core/time.ts'
import type { StatQuery } from '../../store/store.ts'
import type { Period } from '../areas/cut-period.ts'
import type { Interval } from '../http/intervals.ts'
import { type Gathered, isGathered, isShort, stepOf } from './read-request.ts'

export type Grid = {
  readonly edges: readonly number[]
  /** For each span between two edges its step. */
  readonly steps: readonly number[]
  /**
   * The numbers of the steps; an hour of the day, a weekday (1 is Monday), an hour of the week (0 is
   * Monday 00:00), or counted from 0.
   */
  readonly numbers: readonly number[]
  /** Where the next page begins. */
  readonly nextMs: number | undefined
}

type Wanted = {
  readonly interval: Interval
  readonly zone: TimeZone
  readonly period: Period
  readonly limit: number
  /** A page ends before it is longer than this, but has one step at least. */
  readonly longestMs: number
}

export function stepGrid({ interval, zone, period, limit, longestMs }: Wanted): Grid {
  if (period.fromMs >= period.toMs) return noSteps
  if (isGathered(interval)) return gathered(interval, zone, period)
  const starts = stepStarts(period, stepOf[interval], zone, limit + 1)
  const inTime = starts.findIndex(
    (start, at) =>
      at > 0 && (starts[at + 1] ?? period.toMs) - period.fromMs > longestMs && start < period.toMs,
  )
  const count = Math.min(limit, inTime === -1 ? starts.length : inTime)
  const nextMs = starts[count]
  const shown = starts.slice(0, count)
  const numbers = shown.map((_, at) => at)
  return { edges: [...shown, nextMs ?? period.toMs], steps: numbers, numbers, nextMs }
}

const noSteps: Grid = { edges: [], steps: [], numbers: [], nextMs: undefined }

const numbersOf = {
  hour_of_day: hoursOfDay,
  hour_of_week: hoursOfWeek,
  weekday: (starts: readonly number[], zone: TimeZone) =>
    starts.map((start) => weekday(start, zone)),
} as const

function gathered(interval: Gathered, zone: TimeZone, period: Period): Grid {
  const starts = stepStarts(period, stepOf[interval], zone, Infinity)
  const steps = numbersOf[interval](starts, zone)
  const numbers = [...new Set(steps)].toSorted((a, b) => a - b)
  return { edges: [...starts, period.toMs], steps, numbers, nextMs: undefined }
}

/**
 * From what the steps are made: readings where they are few, else written hours, or written days if
 * the steps are UTC days. Hours of a zone that is half an hour off, and shorter steps, are always made of
 * readings.
 */
export function sourceOf(
  { edges }: Pick<Grid, 'edges'>,
  {
    interval,
    zone,
    isFew,
  }: { readonly interval: Interval; readonly zone: TimeZone; readonly isFew: boolean },
): StatQuery['from'] {
  if (isFew || isShort(interval)) return 'readings'
  // the first step may be cut by the period: where it would begin counts
  const starts = [startOfStep(edges[0] ?? 0, stepOf[interval], zone), ...edges.slice(1, -1)]
  if (interval === 'hour') return isAligned(starts, 'hour') ? 'hour' : 'readings'
  return interval === 'day' && isAligned(starts, 'day') ? 'day' : 'hour'
}

/** What the quantiles are of. */
export const basisOf = (from: StatQuery['from'], interval: Interval, sources: number): Basis =>
  from === 'readings' || (sources === 1 && (from === 'day' || interval === 'hour'))
    ? 'readings'
    : 'hourly_means'

export type Basis = 'readings' | 'hourly_means'

export const hoursIn = ({ fromMs, toMs }: Period): number => (toMs - fromMs) / hourMs
