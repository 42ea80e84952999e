/** Its name on the wire, next to the value. */
export const correctionMethod = 'epa_2021_ext'

/**
 * PM2.5 of a Plantower-type sensor (cf_atm) as a regulatory monitor would have it: US EPA's
 * correction of 2021, extended US-wide, in five pieces that blend into each other. Fitted on
 * American aerosol, it reads Harmattan dust badly: offered next to the raw value, never instead.
 *
 * @param pm25UgM3 raw, 0 or more  @param humidityPercent raw, of the same reading
 * @returns µg/m³, 0 or more; null if either is missing
 */
export function pm25Corrected(
  pm25UgM3: number | null,
  humidityPercent: number | null,
): number | null {
  if (pm25UgM3 === null || humidityPercent === null) return null
  return Math.max(0, correct(pm25UgM3, 0.0862 * humidityPercent))
}

function correct(x: number, damp: number): number {
  if (x < 30) return 0.524 * x - damp + 5.75
  if (x < 50) {
    const k = x / 20 - 3 / 2
    return (0.786 * k + 0.524 * (1 - k)) * x - damp + 5.75
  }
  if (x < 210) return 0.786 * x - damp + 5.75
  if (x < 260) {
    const k = x / 50 - 21 / 5
    const slope = 0.69 * k + 0.786 * (1 - k)
    return slope * x - damp * (1 - k) + 2.966 * k + 5.75 * (1 - k) + 8.84e-4 * x ** 2 * k
  }
  return 2.966 + 0.69 * x + 8.84e-4 * x ** 2
}
