/**
 * Fixed point with two decimals: how a reading holds its values, from its first check to its hash.
 */

// Above this, hundredths and their ties need more than the 15 decimal digits that a double keeps apart.
const largest = 1e14

/**
 * Rounds half away from zero to two decimals, judged on the shortest decimal text of `value`, which
 * is what the sensor wrote: 1.005 is 101 although the double lies below it.
 *
 * @returns whole hundredths, never −0; beyond ±1e12, infinities with it, the value saturates at ±1e14,
 * far outside any range that is believed; undefined for NaN
 */
export function toHundredths(value: number): number | undefined {
  if (Number.isNaN(value)) return undefined
  const size = Math.abs(value)
  if (size >= largest / 100) return value < 0 ? -largest : largest
  const down = Math.floor(size * 100)
  // The tie above `down` has at most 15 digits, so it is the shortest text of the double nearest to
  // it, and this division is correctly rounded, so it gives that very double. Texts of doubles are
  // in the order of the doubles: comparing with it compares the texts, without making any.
  const hundredths = size >= (2 * down + 1) / 200 ? down + 1 : down
  return value < 0 && hundredths !== 0 ? -hundredths : hundredths
}

/** @returns the double whose shortest text is the decimal: 1850 → 18.5 */
export const fromHundredths = (hundredths: number): number => hundredths / 100
