import { median, percentile } from '../../core/air/percentile.ts'
import { areaStats } from '../../store/stat-fields.ts'
import type { AreaStats, FieldStats, StatField } from '../../store/store.ts'

const isNumber = (value: number | null): value is number => value !== null

/**
 * The statistics of a span from those of its parts, which must not overlap. Mean, minimum, maximum
 * and count are exact; median and 98th percentile are those of the parts' means.
 *
 * @returns undefined if no part holds a reading
 */
export function composeStats(parts: readonly AreaStats[]): AreaStats | undefined {
  const [first] = parts
  if (first === undefined) return undefined
  const field = (name: StatField): FieldStats =>
    composeField(parts.map(({ fields }) => fields[name]))
  return areaStats(
    first.area,
    Math.min(...parts.map(({ startMs }) => startMs)),
    parts.reduce((sum, { readings }) => sum + readings, 0),
    field,
  )
}

function composeField(parts: readonly FieldStats[]): FieldStats {
  const n = parts.reduce((sum, part) => sum + part.n, 0)
  if (n === 0) return { n, mean: null, min: null, max: null, p50: null, p98: null }
  const means = parts.map(({ mean }) => mean).filter(isNumber)
  const sorted = means.toSorted((a, b) => a - b)
  return {
    n,
    mean: parts.reduce((sum, part) => sum + (part.mean ?? 0) * part.n, 0) / n,
    min: Math.min(...parts.map(({ min }) => min).filter(isNumber)),
    max: Math.max(...parts.map(({ max }) => max).filter(isNumber)),
    p50: median(sorted),
    p98: percentile(sorted, 98),
  }
}
