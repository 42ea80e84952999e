import type { CountedValues } from './counted-values.ts'
import { noValues } from './stat-fields.ts'
import type { FieldStats } from './store.ts'

/**
 * The rule of InfluxQL's `percentile()`, so that both engines agree: the nearest rank, of few values
 * the first.
 * @returns an index into the sorted values, −1 where there is none
 */
export const nearestRank = (n: number, percent: number): number =>
  n === 0 ? -1 : Math.max(0, Math.floor((n * percent) / 100 + 0.5) - 1)

/** @param perUnit how many steps of a value make one unit (100 for hundredths) */
export function summarise(counted: CountedValues, perUnit: number): FieldStats {
  const { values, counts } = counted
  if (values.length === 0) return noValues
  const min = values[0]!
  /** How many values there are up to each of them. */
  const upTo = new Uint32Array(values.length)
  let n = 0
  let sum = 0
  for (let at = 0; at < values.length; at++) {
    n += counts[at]!
    sum += values[at]! * counts[at]!
    upTo[at] = n
  }
  const sd = spread(counted, n, sum)
  const ranked = (rank: number): number => values[firstAbove(upTo, rank)]!
  const quantile = (percent: number): number => ranked(nearestRank(n, percent)) / perUnit
  const lower = ranked((n - 1) >> 1)
  const upper = ranked(n >> 1)
  return {
    n,
    mean: sum / n / perUnit,
    min: min / perUnit,
    max: values.at(-1)! / perUnit,
    p50: (lower + upper) / 2 / perUnit,
    p98: quantile(98),
    sd: sd === null ? null : sd / perUnit,
    q02: quantile(2),
    q25: quantile(25),
    q75: quantile(75),
  }
}

/** The first index of an ascending list whose number is greater. */
function firstAbove(ascending: Uint32Array, number: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! > number) high = middle
    else low = middle + 1
  }
  return low
}

/** The same in any order of the values: what would be rounded is carried. */
function spread({ values, counts }: CountedValues, n: number, sum: number): number | null {
  if (n < 2) return null
  const min = values[0]!
  let carried = 0n
  let squares = 0
  for (let at = 0; at < values.length; at++) {
    const square = (values[at]! - min) ** 2
    const all = square * counts[at]!
    if (squares + all < mostExact) squares += all
    else carried += BigInt(square) * BigInt(counts[at]!)
  }
  const above = BigInt(sum - n * min)
  const numerator = BigInt(n) * (carried + BigInt(squares)) - above * above
  return Math.sqrt(Number(numerator) / (n * (n - 1)))
}

const mostExact = 2 ** 52
