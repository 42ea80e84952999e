import { median, percentile } from '../core/air/percentile.ts'
import { sampleSd, squaresOf } from '../core/air/spread.ts'
import type { BucketSummary } from './stat-collector.ts'
import { type StatColumn, stepsPerUnit } from './stat-fields.ts'
import type { FieldStats, StepStats } from './store.ts'

/**
 * Puts steps together from parts that do not overlap (hours, mostly). Sums are whole numbers, so n,
 * mean, sd, min and max are as if computed from the readings, in whatever order the parts come.
 */
export type StepCollector = {
  /**
   * The part's rows, whatever they measured.
   * @param leftOut those that are not among them; NaN: not known
   */
  readonly addReadings: (step: number, readings: number, leftOut: number) => void
  /** A field of a part: its place in `columns`, in the unit of the field. */
  readonly addField: (step: number, field: number, stats: FieldStats) => void
  /**
   * The same of a part whose quantiles are not wanted, without an object.
   * @param sum in steps of the value, as are the others
   */
  readonly addSums: (
    step: number,
    field: number,
    n: number,
    sum: number,
    sd: number,
    min: number,
    max: number,
  ) => void
  readonly finish: () => StepStats[]
}

type Step = { readings: number; leftOut: number; readonly columns: readonly Column[] }

type Column = {
  n: number
  sum: number
  squares: number
  min: number
  max: number
  /** Of the parts, in steps of the value. */
  readonly means: number[]
  /** The only part so far. */
  only: FieldStats | undefined
}

/** @param isWhole a step is one part, whose quantiles are the step's */
export function stepCollector(columns: readonly StatColumn[], isWhole: boolean): StepCollector {
  const steps = new Map<number, Step>()
  let last = -1
  let current: Step = { readings: 0, leftOut: 0, columns: [] }
  const stepAt = (step: number): Step => {
    // parts of one step come in runs
    if (step === last) return current
    last = step
    current = steps.get(step) ?? { readings: 0, leftOut: 0, columns: columns.map(newColumn) }
    steps.set(step, current)
    return current
  }
  const perUnit = columns.map(stepsPerUnit)
  const addSums: StepCollector['addSums'] = (step, field, n, sum, sd, min, max) => {
    const column = stepAt(step).columns[field]
    if (column === undefined || n === 0) return
    column.n += n
    column.sum += sum
    column.squares += squaresOf(n, sum, Number.isNaN(sd) ? null : sd)
    column.min = Math.min(column.min, min)
    column.max = Math.max(column.max, max)
    column.means.push(sum / n)
    column.only = undefined
  }
  return {
    addReadings: (step, readings, leftOut) => {
      const counts = stepAt(step)
      counts.readings += readings
      counts.leftOut += leftOut
    },
    addField: (step, field, stats) => {
      const { n, mean, sd, min, max } = stats
      if (n === 0 || mean === null) return
      const unit = perUnit[field] ?? 1
      const scaled = (value: number | null): number =>
        value === null ? Number.NaN : Math.round(value * unit)
      addSums(
        step,
        field,
        n,
        scaled(mean * n),
        sd === null ? Number.NaN : sd * unit,
        scaled(min),
        scaled(max),
      )
      const column = stepAt(step).columns[field]
      if (isWhole && column?.means.length === 1) column.only = stats
    },
    addSums,
    finish: () =>
      [...steps]
        .sort(([a], [b]) => a - b)
        .map(([step, { readings, leftOut, columns: filled }]) => ({
          step,
          readings,
          leftOut: Number.isNaN(leftOut) ? null : leftOut,
          fields: Object.fromEntries(
            filled.flatMap((column, at) =>
              column.n === 0 ? [] : [[columns[at]!, finished(column, perUnit[at] ?? 1)]],
            ),
          ),
        })),
  }
}

const newColumn = (): Column => ({
  n: 0,
  sum: 0,
  squares: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  means: [],
  only: undefined,
})

function finished({ n, sum, squares, min, max, means, only }: Column, perUnit: number): FieldStats {
  if (only !== undefined) return only
  const sorted = Float64Array.from(means).sort()
  const inUnits = (value: number | null): number | null => (value === null ? null : value / perUnit)
  const quantile = (percent: number): number | null => inUnits(percentile(sorted, percent))
  return {
    n,
    mean: sum / n / perUnit,
    min: min / perUnit,
    max: max / perUnit,
    p50: inUnits(median(sorted)),
    p98: quantile(98),
    sd: inUnits(sampleSd(n, sum, squares)),
    q02: quantile(2),
    q25: quantile(25),
    q75: quantile(75),
  }
}

/** What was computed from readings, part by part. @param stepOf the step of a part, by its start */
export function addSummaries(
  collector: StepCollector,
  summaries: readonly BucketSummary[],
  stepOf: (startMs: number) => number,
): void {
  for (const { startMs, readings, leftOut, fields } of summaries) {
    const step = stepOf(startMs)
    collector.addReadings(step, readings, leftOut)
    for (const [at, stats] of fields.entries()) collector.addField(step, at, stats)
  }
}
