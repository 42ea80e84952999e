import { usualQuality } from '../core/air/quality-level.ts'
import { dayMs, floorTo, hourMs } from '../core/time.ts'
import type { BucketSize, StatQuery } from './store.ts'

export type Span = { readonly fromMs: number; readonly toMs: number }

export const bucketMs: Readonly<Record<BucketSize, number>> = { hour: hourMs, day: dayMs }

/** Where the parts of a query are read, and which step each belongs to. */
export type StepSpans = {
  /** Read from what is written; ascending, and no two touch. */
  readonly written: readonly Span[]
  /** Computed from readings; the same. */
  readonly raw: readonly Span[]
  /** The step that an instant within the edges belongs to. */
  readonly stepAt: (timeMs: number) => number
  /** Each step is one part, so its quantiles are known. */
  readonly isWhole: boolean
  /** The start of the part that an instant of a raw span belongs to: no part is in two steps. */
  readonly partAt: (timeMs: number) => number
}

export function stepSpans(query: StatQuery): StepSpans {
  const { edges, steps, from, writtenFromMs, quality = usualQuality, corrections = [] } = query
  const isUsual = quality === usualQuality && corrections.length === 0
  const unwritten = isUsual ? query.unwritten : 'all'
  const spanAt = spanFinder(edges)
  const stepAt = (timeMs: number): number => steps[spanAt(timeMs)] ?? 0
  const whole = { fromMs: edges[0] ?? 0, toMs: edges.at(-1) ?? 0 }
  if (from === 'readings') {
    // a step is one part, however many spans it has
    const partAt = stepAt
    const all = isEmpty(whole) ? [] : [whole]
    return { written: [], raw: all, stepAt: (part) => part, partAt, isWhole: true }
  }
  const sizeMs = bucketMs[from]
  const partAt = (timeMs: number): number =>
    Math.max(floorTo(timeMs, sizeMs), edges[spanAt(timeMs)] ?? 0)
  const written: Span[] = []
  const raw: Span[] = []
  const open = unwritten === 'all' ? [] : inside(unwritten, whole)
  let opened = 0
  for (let at = 0; at + 1 < edges.length; at++) {
    const fromMs = edges[at]!
    const toMs = edges[at + 1]!
    const firstMs = floorTo(fromMs + sizeMs - 1, sizeMs)
    const lastMs = floorTo(toMs, sizeMs)
    const readFromMs = Math.min(
      Math.max(firstMs, floorTo(writtenFromMs + sizeMs - 1, sizeMs)),
      toMs,
    )
    if (unwritten === 'all' || readFromMs >= lastMs) {
      push(raw, fromMs, toMs)
      continue
    }
    push(raw, fromMs, readFromMs)
    let next = readFromMs
    for (; open[opened]! < lastMs; opened++) {
      const start = open[opened]!
      if (start < readFromMs) continue
      push(written, next, start)
      push(raw, start, start + sizeMs)
      next = start + sizeMs
    }
    push(written, next, lastMs)
    push(raw, lastMs, toMs)
  }
  const isWhole =
    new Set(steps).size === steps.length &&
    steps.every((_, at) => floorTo(edges[at]!, sizeMs) === floorTo(edges[at + 1]! - 1, sizeMs))
  return { written, raw, stepAt, partAt, isWhole }
}

const inside = (starts: Iterable<number>, { fromMs, toMs }: Span): number[] =>
  [...starts].filter((start) => start >= fromMs && start < toMs).toSorted((a, b) => a - b)

const isEmpty = ({ fromMs, toMs }: Span): boolean => fromMs >= toMs

function push(spans: Span[], fromMs: number, toMs: number): void {
  if (fromMs >= toMs) return
  const last = spans.at(-1)
  if (last?.toMs === fromMs) spans[spans.length - 1] = { fromMs: last.fromMs, toMs }
  else spans.push({ fromMs, toMs })
}

/** Rows come in runs of one span. */
function spanFinder(edges: readonly number[]): (timeMs: number) => number {
  let at = 0
  return (timeMs) => {
    if (timeMs >= edges[at]! && timeMs < edges[at + 1]!) return at
    let low = 0
    let high = edges.length - 2
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (edges[middle]! <= timeMs) low = middle
      else high = middle - 1
    }
    at = low
    return at
  }
}

/** A span in UTC days: what computes from readings holds no more than a day of them. */
export function* daysOf({ fromMs, toMs }: Span): Generator<Span> {
  for (let from = fromMs; from < toMs; ) {
    const to = Math.min(toMs, floorTo(from, dayMs) + dayMs)
    yield { fromMs: from, toMs: to }
    from = to
  }
}
