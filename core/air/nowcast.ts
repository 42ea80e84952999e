/**
 * Averages for "now" and "today": EPA's NowCast for PM and the 24-hour mean. Both take clock-hour
 * means in µg/m³, newest first, null for an hour with too few readings, and return µg/m³ as
 * computed: `ofConcentration` of an index truncates them, and so must a caller that prints them.
 */

export const nowcastHours = 12
export const dailyHours = 24

/** An hour has a mean from this fraction of its expected readings on. */
export const neededHourCoverage = 0.75

const neededDailyHours = 18
const smallestWeight = 0.5

/**
 * Weighs recent hours more the more the air changes: `w = max(½, min/max)`, and an hour i hours ago
 * weighs w^i; a missing hour has no weight. (US EPA, NowCast for PM.)
 *
 * @param hours newest first; those after the 12th are ignored, missing ones are null
 * @returns null unless two of the newest three hours are present
 */
export function nowcast(hours: readonly (number | null)[]): number | null {
  if (countPresent(hours.slice(0, 3)) < 2) return null
  const newest = hours.slice(0, nowcastHours)
  const present = newest.filter((mean) => mean !== null)
  const max = Math.max(...present)
  if (max <= 0) return 0
  const weight = Math.max(smallestWeight, Math.min(...present) / max)

  let weighted = 0
  let weights = 0
  newest.forEach((mean, age) => {
    if (mean === null) return
    weighted += mean * weight ** age
    weights += weight ** age
  })
  return weighted / weights
}

/**
 * @param hours newest first; those after the 24th are ignored, missing ones are null
 * @returns the mean of the hours present, null unless this many of the 24 are
 */
export function dailyMean(
  hours: readonly (number | null)[],
  needed = neededDailyHours,
): number | null {
  const present = hours.slice(0, dailyHours).filter((mean) => mean !== null)
  if (present.length < needed) return null
  return present.reduce((sum, mean) => sum + mean, 0) / present.length
}

const countPresent = (hours: readonly (number | null)[]): number =>
  hours.filter((mean) => mean !== null).length
