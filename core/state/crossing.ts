/**
 * Crossings of every threshold at once. The rule for one threshold t: it fires when the index rises
 * above t, once, and re-arms when two readings in a row are at or below t − 10.
 *
 * Whatever happens, the thresholds that have fired and not re-armed are all those below some
 * number, because a threshold above another fires later and re-arms sooner. So one integer per
 * sensor, `firedBelow`, is the state of them all.
 */

/** How far the index must fall below a threshold before that can fire again. */
export const rearmDistance = 10

export type Crossed = {
  /** The thresholds t with `from ≤ t < to` fire now; none if `from ≥ to`. */
  readonly from: number
  readonly to: number
  /** State for the sensor's next reading. */
  readonly firedBelow: number
}

/**
 * Folds one reading; to be called only with fresh readings, in the order of their times.
 *
 * @param firedBelow of the sensor so far, 0 at first
 * @param previousAqi whole, of the reading folded before; null for a sensor's first, which fires
 * every threshold below it
 * @param aqi whole, 0…500
 */
export function cross(firedBelow: number, previousAqi: number | null, aqi: number): Crossed {
  const from = armedFrom(firedBelow, previousAqi, aqi)
  return { from, to: aqi, firedBelow: aqi > from ? aqi : from }
}

/**
 * The lowest threshold that is armed when `aqi` arrives. `cross` without its object, for a caller
 * with state in typed arrays: `[armedFrom, aqi)` fires, the larger of both is the next `firedBelow`.
 */
export function armedFrom(firedBelow: number, previousAqi: number | null, aqi: number): number {
  if (previousAqi === null) return 0
  const rearmed = (aqi > previousAqi ? aqi : previousAqi) + rearmDistance
  return rearmed < firedBelow ? rearmed : firedBelow
}

/** Whether a threshold lies in [from, to). @param thresholds whole numbers, ascending */
export function someInside(thresholds: readonly number[], from: number, to: number): boolean {
  for (const threshold of thresholds) {
    if (threshold >= to) return false
    if (threshold >= from) return true
  }
  return false
}
