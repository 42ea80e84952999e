/**
 * The standard deviation of a sample (n − 1), from sums of whole numbers: the numerator is made in
 * whole numbers, because it is a small difference of large ones.
 * @param squares the sum of the squares  @returns null below two values, or if a sum is not known
 */
export function sampleSd(n: number, sum: number, squares: number): number | null {
  if (n < 2 || Number.isNaN(squares)) return null
  if (n * squares < Number.MAX_SAFE_INTEGER)
    return Math.sqrt(Math.max(0, n * squares - sum * sum) / (n * (n - 1)))
  const whole = BigInt(Math.round(sum))
  const numerator = Number(BigInt(n) * BigInt(Math.round(squares)) - whole * whole)
  return Math.sqrt(Math.max(0, numerator) / (n * (n - 1)))
}

/** The sum of squares that gives that deviation: exact as long as n² times the variance is below 2^51. */
export function squaresOf(n: number, sum: number, sd: number | null): number {
  if (n < 2) return sum * sum
  if (sd === null) return Number.NaN
  const total = Math.round(sd * sd * n * (n - 1)) + sum * sum
  if (total < Number.MAX_SAFE_INTEGER) return Math.round(total / n)
  const whole = BigInt(Math.round(sum))
  const numerator = BigInt(Math.round(sd * sd * n * (n - 1)))
  return Number((numerator + whole * whole) / BigInt(n))
}
