/** One value of one reading. */
export type Point = { readonly timeMs: number; readonly value: number | null }

export type Line = { readonly xs: readonly number[]; readonly ys: readonly (number | null)[] }

/**
 * Readings as a line, in seconds and in the order of time. Where more than two and a half intervals
 * pass without a reading, the line is broken: what was not measured is not drawn.
 */
export function withGaps(points: readonly Point[], intervalMs: number): Line {
  const xs: number[] = []
  const ys: (number | null)[] = []
  let last: number | undefined
  for (const { timeMs, value } of points.toSorted((a, b) => a.timeMs - b.timeMs)) {
    if (last !== undefined && timeMs - last > 2.5 * intervalMs) {
      xs.push((last + intervalMs) / 1000)
      ys.push(null)
    }
    xs.push(timeMs / 1000)
    ys.push(value)
    last = timeMs
  }
  return { xs, ys }
}

/**
 * Thinned for a screen: the mean of each of `most` steps of time; a step without readings breaks
 * the line. Fewer points than that stay as they are.
 */
export function thinned(points: readonly Point[], { fromMs, toMs, most }: Span): readonly Point[] {
  if (points.length <= most) return points
  const stepMs = (toMs - fromMs) / most
  const sums = new Map<number, { sum: number; count: number }>()
  for (const { timeMs, value } of points) {
    const step = Math.floor((timeMs - fromMs) / stepMs)
    const part = sums.get(step) ?? { sum: 0, count: 0 }
    if (value !== null) {
      part.sum += value
      part.count++
    }
    sums.set(step, part)
  }
  return [...sums].map(([step, { sum, count }]) => ({
    timeMs: fromMs + (step + 0.5) * stepMs,
    value: count === 0 ? null : Math.round((sum / count) * 100) / 100,
  }))
}

type Span = {
  readonly fromMs: number
  readonly toMs: number
  /** Points at most. */
  readonly most: number
}

/** For each of `count` equal parts of a time, whether any reading is in it. */
export function heardIn(
  timesMs: Iterable<number>,
  {
    fromMs,
    toMs,
    count,
  }: { readonly fromMs: number; readonly toMs: number; readonly count: number },
): readonly boolean[] {
  const heard = Array.from({ length: count }, () => false)
  const partMs = (toMs - fromMs) / count
  for (const timeMs of timesMs) {
    const part = Math.floor((timeMs - fromMs) / partMs)
    if (part >= 0 && part < count) heard[part] = true
  }
  return heard
}
