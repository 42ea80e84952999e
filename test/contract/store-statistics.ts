import { expect } from 'vitest'
import { type QualityFilter, refusedMaskOf } from '../../core/air/quality-level.ts'
import { mapQuantities } from '../../core/air/quantities.ts'
import type { Reading } from '../../core/air/reading.ts'
import { valueOf } from '../../core/air/values.ts'
import { noValues } from '../../store/stat-fields.ts'
import type { AreaStats, FieldStats, StatField } from '../../store/store.ts'

/**
 * Statistics recomputed the plain way: sort a copy and count. Nearest rank as InfluxQL defines
 * it, sorted[floor(n · p / 100 + 0.5) − 1]; the median averages the two middle values. What is not of
 * the quality is only counted.
 */
export function plainStats(
  area: string,
  startMs: number,
  all: readonly Reading[],
  quality: QualityFilter = 'suspect',
): AreaStats {
  const rows = all.filter(({ flags }) => (flags & refusedMaskOf(quality)) === 0)
  const of = (field: StatField): FieldStats => {
    const values = rows
      .map((row) => (field === 'aqi' ? row.aqi : valueOf(row.values, field)))
      .filter((value) => value !== null)
      .map((value) => (field === 'aqi' ? value : value / 100))
      .sort((a, b) => a - b)
    const n = values.length
    if (n === 0) return noValues
    const mean = values.reduce((sum, value) => sum + value, 0) / n
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    const quantile = (percent: number): number =>
      values[Math.max(0, Math.floor((n * percent) / 100 + 0.5) - 1)]!
    return {
      n,
      mean,
      min: values[0]!,
      max: values[n - 1]!,
      p50: (values[Math.floor((n - 1) / 2)]! + values[Math.floor(n / 2)]!) / 2,
      p98: quantile(98),
      sd: n === 1 ? null : Math.sqrt(squares / (n - 1)),
      q02: quantile(2),
      q25: quantile(25),
      q75: quantile(75),
    }
  }
  return {
    area,
    startMs,
    readings: rows.length,
    failed: all.length - rows.length,
    fields: { ...mapQuantities(({ name }) => of(name)), aqi: of('aqi') },
  }
}

/** One entry a bucket that holds rows, oldest first. */
export function plainBuckets(
  area: string,
  rows: readonly Reading[],
  sizeMs: number,
  quality?: QualityFilter,
): AreaStats[] {
  const starts = Map.groupBy(rows, ({ timeMs }) => Math.floor(timeMs / sizeMs) * sizeMs)
  return [...starts]
    .sort(([a], [b]) => a - b)
    .map(([start, of]) => plainStats(area, start, of, quality))
}

/** Equal, but for the last digits of a sum, whose order of adding is the engine's own. */
export function expectSameStats(found: readonly AreaStats[], wanted: readonly AreaStats[]): void {
  expect(found.map(rounded)).toEqual(wanted.map(rounded))
}

const rounded = (stats: AreaStats): unknown => ({
  ...stats,
  fields: Object.fromEntries(
    Object.entries(stats.fields).map(([field, of]) => [
      field,
      { ...of, mean: of.mean?.toFixed(6), p50: of.p50?.toFixed(6), sd: of.sd?.toFixed(6) },
    ]),
  ),
})
