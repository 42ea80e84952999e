/** A series of the API's statistics, made into lines. */

/** A step of the answer, as far as charts use it. */
export type StepAnswer = {
  readonly start_time: string
  readonly end_time: string
  readonly coverage: { readonly expected: number; readonly observed: number }
  readonly left_out: number | null
  readonly aqi: Numbers
  readonly measurements: Readonly<Record<string, Numbers>>
}
type Numbers = {
  readonly n?: number | null
  readonly mean?: number | null
  readonly min?: number | null
  readonly max?: number | null
}

/** null: nothing was measured, and the line breaks; undefined: between two that belong together. */
export type Values = readonly (number | null | undefined)[]

export type Line = { readonly mean: Values; readonly min: Values; readonly max: Values }

export type Series = {
  /** Ends of each step, ascending; between two that are not neighbours is one that nothing is known of. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** The middles of the steps: where their values are drawn. */
  readonly xs: readonly number[]
  readonly lines: Readonly<Record<string, Line>>
  /** Whether anything came in a step, with or without values that count; undefined: none was due. */
  readonly heard: readonly (boolean | undefined)[]
}

type Options = {
  readonly names: readonly string[]
  /** What runs is cut here. */
  readonly toMs: number
  /** Of the steps that were asked for. */
  readonly stepMs: number
}

/** Steps in the order of time, as lines over one axis. */
export function seriesOf(answer: readonly StepAnswer[], { names, toMs, stepMs }: Options): Series {
  const rows = withBreaks(answer, toMs)
  const xs = rows.map(({ fromMs, endMs }) => (fromMs + endMs) / 2)
  const lines: Record<string, Line> = {}
  for (const name of names) {
    const of = rows.map(({ step }) => (name === 'aqi' ? step?.aqi : step?.measurements[name]))
    const isThere = of.map((numbers) => typeof numbers?.mean === 'number')
    const blank = blanks(xs, isThere, stepMs)
    const valuesOf = (stat: 'mean' | 'min' | 'max'): Values =>
      of.map((numbers, at) => (isThere[at] === true ? (numbers?.[stat] ?? null) : blank[at]))
    lines[name] = { mean: valuesOf('mean'), min: valuesOf('min'), max: valuesOf('max') }
  }
  return {
    starts: rows.map(({ fromMs }) => fromMs),
    ends: rows.map(({ endMs }) => endMs),
    xs,
    lines,
    heard: rows.map(({ step }) => {
      if (step === undefined) return undefined
      const came = step.coverage.observed + (step.left_out ?? 0) > 0
      return came || step.coverage.expected > 0 ? came : undefined
    }),
  }
}

type Row = { readonly fromMs: number; readonly endMs: number; readonly step?: StepAnswer }

/** Steps in which nothing was due are not in the answer: each run of them is one row. */
function withBreaks(answer: readonly StepAnswer[], toMs: number): readonly Row[] {
  const rows: Row[] = []
  for (const step of answer) {
    const fromMs = Date.parse(step.start_time)
    const endMs = Math.min(Date.parse(step.end_time), Math.max(toMs, fromMs + 1))
    const before = rows.at(-1)
    if (before !== undefined && fromMs > before.endMs)
      rows.push({ fromMs: before.endMs, endMs: fromMs })
    rows.push({ fromMs, endMs, step })
  }
  return rows
}

/**
 * What a step without a value is: part of a gap, or only between two values of a sensor that sends less
 * often than steps are long. Its own rhythm says which: the median distance of its values.
 */
function blanks(
  xs: readonly number[],
  isThere: readonly boolean[],
  stepMs: number,
): readonly (null | undefined)[] {
  const there = [...xs.keys()].filter((at) => isThere[at] === true)
  const apart = there.slice(1).map((at, place) => xs[at]! - xs[there[place]!]!)
  // of two values alone no rhythm is known
  const median = apart.toSorted((a, b) => a - b)[Math.ceil(apart.length / 2) - 1] ?? 0
  const mostMs = 2.5 * Math.max(apart.length < 2 ? 0 : median, stepMs)
  const blank = xs.map((): null | undefined => null)
  for (const [place, at] of there.entries()) {
    const next = there[place + 1]
    if (next === undefined || xs[next]! - xs[at]! > mostMs) continue
    blank.fill(undefined, at + 1, next)
  }
  return blank
}

export type Part = {
  readonly fromMs: number
  readonly toMs: number
  /** undefined: nothing was due, or not yet. */
  readonly came: boolean | undefined
}

/**
 * Whether anything came in, step by step, or in parts of several steps that are long enough to say so.
 * @param leastMs how long a part must be for its silence to mean something
 */
export function partsOf(series: Series, leastMs: number): readonly Part[] {
  const parts: Part[] = []
  let open: Part | undefined
  for (const [at, came] of series.heard.entries()) {
    const own = { fromMs: series.starts[at]!, toMs: series.ends[at]!, came }
    const isBreak = came === undefined && own.toMs - own.fromMs > leastMs
    if (isBreak && open !== undefined) parts.push(unknownIfShort(open, leastMs))
    const part: Part =
      open === undefined || isBreak
        ? own
        : { fromMs: open.fromMs, toMs: own.toMs, came: either(open.came, came) }
    open = undefined
    if (isBreak || part.toMs - part.fromMs >= leastMs) parts.push(part)
    else open = part
  }
  if (open !== undefined) parts.push(unknownIfShort(open, leastMs))
  return parts
}

const either = (a: boolean | undefined, b: boolean | undefined): boolean | undefined =>
  a === true || b === true ? true : a === false || b === false ? false : undefined

const unknownIfShort = (part: Part, leastMs: number): Part =>
  part.came === false && part.toMs - part.fromMs < leastMs ? { ...part, came: undefined } : part

/** Several series over one axis: what one has no step for is a gap in it. */
export function aligned(all: readonly Series[]): readonly Series[] {
  if (all.length < 2) return all
  const rows = new Map<number, { readonly endMs: number; readonly x: number }>()
  for (const { starts, ends, xs } of all)
    for (const [at, start] of starts.entries())
      rows.set(start, rows.get(start) ?? { endMs: ends[at]!, x: xs[at]! })
  const starts = [...rows.keys()].toSorted((a, b) => a - b)
  const ends = starts.map((start) => rows.get(start)!.endMs)
  const xs = starts.map((start) => rows.get(start)!.x)
  return all.map((series) => {
    const places = new Map(series.starts.map((start, at) => [start, at]))
    const spread = <T>(values: readonly T[], none: T): readonly T[] =>
      starts.map((start) => {
        const at = places.get(start)
        return at === undefined ? none : (values[at] ?? none)
      })
    const keep = (values: Values): Values =>
      starts.map((start) => {
        const at = places.get(start)
        return at === undefined ? null : values[at]
      })
    const lines = Object.entries(series.lines).map(
      ([name, { mean, min, max }]) =>
        [name, { mean: keep(mean), min: keep(min), max: keep(max) }] as const,
    )
    return {
      starts,
      ends,
      xs,
      lines: Object.fromEntries(lines),
      heard: spread(series.heard, undefined),
    }
  })
}

export type Extent = { readonly low: number; readonly high: number; readonly mean: number }

/** undefined where there is no value at all. */
export function extentOf({ mean, min, max }: Line): Extent | undefined {
  const numbers = (values: Values): number[] => values.filter((value) => typeof value === 'number')
  const means = numbers(mean)
  if (means.length === 0) return undefined
  return {
    low: Math.min(...(numbers(min).length > 0 ? numbers(min) : means)),
    high: Math.max(...(numbers(max).length > 0 ? numbers(max) : means)),
    mean: means.reduce((sum, value) => sum + value, 0) / means.length,
  }
}
