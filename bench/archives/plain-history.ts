/** The published rules for what a sensor's history says, written a second time, over lists. */
import { flagsOf, type Values } from './plain-values.ts'

type Row = { readonly timeMs: number; readonly values: Values }
const minuteOf = ({ timeMs }: Row): number => Math.floor(timeMs / 60_000)

/** Of one sensor: give it each accepted reading, in order. @returns the flags of that reading */
export function plainHistory(): (row: Row) => number {
  let known: { pm25: number | null; pm10: number | null } = { pm25: null, pm10: null }
  let run: Row[] = []
  let recent: number[] = []
  let formerMs = Number.NEGATIVE_INFINITY
  return (row) => {
    const { pm25, pm10 } = row.values
    const isAfterGap = row.timeMs - formerMs > 3 * 3_600_000
    formerMs = row.timeMs
    if (isAfterGap) [known, run, recent] = [{ pm25: null, pm10: null }, [], []]
    if (pm25 === null && pm10 === null) return 0
    const isSame = (pm25 === null || pm25 === known.pm25) && (pm10 === null || pm10 === known.pm10)
    run = isSame ? [...run, row] : [row]
    const names = [...runNames(run), ...(isSpike(pm25, recent) ? (['pm_spike'] as const) : [])]
    known = { pm25: pm25 ?? known.pm25, pm10: pm10 ?? known.pm10 }
    if (pm25 !== null) recent = [...recent, pm25].slice(-5)
    return flagsOf(...names)
  }
}

function runNames(run: readonly Row[]) {
  const [first, last] = [run[0], run.at(-1)]
  if (first === undefined || last === undefined) return []
  const minutes = minuteOf(last) - minuteOf(first)
  const isZero = (last.values.pm25 ?? 0) === 0 && (last.values.pm10 ?? 0) === 0
  const isFlat = run.length >= 24 && minutes >= 120
  return [
    ...(isFlat ? [minutes < 360 ? ('pm_flat' as const) : ('pm_stuck' as const)] : []),
    ...(isZero && run.length >= 12 && minutes >= 60 ? (['pm_zero'] as const) : []),
  ]
}

function isSpike(pm25: number | null, recent: readonly number[]): boolean {
  const median = recent.toSorted((a, b) => a - b)[Math.floor(recent.length / 2)]
  if (pm25 === null || median === undefined || recent.length < 3) return false
  return pm25 > median + 5_000 && pm25 > 3 * median
}
