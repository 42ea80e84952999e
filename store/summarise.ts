import { noValues } from './stat-fields.ts'
import type { FieldStats } from './store.ts'

/**
 * The rule of InfluxQL's `percentile()`, so that both engines agree: the nearest rank, of few values
 * the first.
 * @returns an index into the sorted values, −1 where there is none
 */
export const nearestRank = (n: number, percent: number): number =>
  n === 0 ? -1 : Math.max(0, Math.floor((n * percent) / 100 + 0.5) - 1)

/**
 * @param values in any order; may be reordered
 * @param perUnit how many steps of a value make one unit (100 for hundredths)
 */
export function summarise(values: Int32Array, perUnit: number): FieldStats {
  const n = values.length
  if (n === 0) return noValues
  let sum = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  const sd = spread(values, sum, min)
  const ranked = byRank(values, min, max)
  const quantile = (percent: number): number => ranked(nearestRank(n, percent)) / perUnit
  const lower = ranked((n - 1) >> 1)
  const upper = ranked(n >> 1)
  return {
    n,
    mean: sum / n / perUnit,
    min: min / perUnit,
    max: max / perUnit,
    p50: (lower + upper) / 2 / perUnit,
    p98: quantile(98),
    sd: sd === null ? null : sd / perUnit,
    q02: quantile(2),
    q25: quantile(25),
    q75: quantile(75),
  }
}

/** The same in any order of the values: what would be rounded is carried. */
function spread(values: Int32Array, sum: number, min: number): number | null {
  let carried = 0n
  let squares = 0
  for (const value of values) {
    const square = (value - min) ** 2
    if (squares + square < mostExact) squares += square
    else {
      carried += BigInt(squares) + BigInt(square)
      squares = 0
    }
  }
  const { length: n } = values
  if (n < 2) return null
  const above = BigInt(sum - n * min)
  const numerator = BigInt(n) * (carried + BigInt(squares)) - above * above
  return Math.sqrt(Number(numerator) / (n * (n - 1)))
}

const mostExact = 2 ** 52

/** The value at a rank from 0: by counting where the values lie dense, else by sorting. */
function byRank(values: Int32Array, min: number, max: number): (rank: number) => number {
  const span = max - min + 1
  if (span > 16 * values.length) {
    const sorted = values.sort()
    return (rank) => sorted[rank] ?? Number.NaN
  }
  const counts = new Uint32Array(span)
  for (const value of values) counts[value - min]! += 1
  return (rank) => {
    let below = 0
    for (let step = 0; step < span; step++) {
      below += counts[step]!
      if (below > rank) return min + step
    }
    return Number.NaN
  }
}
