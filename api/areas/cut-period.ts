import { floorTo } from '../../core/time.ts'

/** ms since the epoch; `fromMs` inclusive, `toMs` exclusive. */
export type Period = { readonly fromMs: number; readonly toMs: number }

/** A period as whole steps, with the partial steps before and after them if there are any. */
export type CutPeriod = {
  readonly head?: Period
  readonly whole?: Period
  readonly tail?: Period
}

/** A period within one step that does not fill it is only a head. */
export function cutPeriod({ fromMs, toMs }: Period, stepMs: number): CutPeriod {
  const wholeFromMs = floorTo(fromMs + stepMs - 1, stepMs)
  const wholeToMs = floorTo(toMs, stepMs)
  if (wholeToMs < wholeFromMs) return { head: { fromMs, toMs } }
  return {
    ...(fromMs < wholeFromMs && { head: { fromMs, toMs: wholeFromMs } }),
    ...(wholeFromMs < wholeToMs && { whole: { fromMs: wholeFromMs, toMs: wholeToMs } }),
    ...(wholeToMs < toMs && { tail: { fromMs: wholeToMs, toMs } }),
  }
}

/** Joins neighbouring steps into one period each. @param starts of steps, in any order */
export function coalesce(starts: Iterable<number>, stepMs: number): Period[] {
  const runs: { fromMs: number; toMs: number }[] = []
  for (const start of [...starts].sort((a, b) => a - b)) {
    const last = runs.at(-1)
    if (last !== undefined && last.toMs === start) last.toMs = start + stepMs
    else runs.push({ fromMs: start, toMs: start + stepMs })
  }
  return runs
}
