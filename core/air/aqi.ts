/**
 * The US EPA Air Quality Index for particulate matter, as revised on 6 May 2024 (EPA-454/B-24-002,
 * 89 FR 16202). A concentration is truncated (PM2.5 to 0.1 µg/m³, PM10 to 1 µg/m³), interpolated
 * within its band and rounded to the nearest integer; an index is the larger of its two
 * sub-indices. Sources differ above the table: here the index stays at 500 and says `beyondIndex`.
 */

export type Pollutant = 'pm25' | 'pm10'

export type AqiCategory =
  | 'good'
  | 'moderate'
  | 'unhealthy_sensitive'
  | 'unhealthy'
  | 'very_unhealthy'
  | 'hazardous'

/** Both ends belong to the range, and the next band starts one step of truncation above. */
type Ends = { readonly low: number; readonly high: number }

type AqiBand = {
  readonly category: AqiCategory
  readonly aqi: Ends
  /** In steps of truncation: tenths of a µg/m³ for PM2.5, whole µg/m³ for PM10. */
  readonly pm25: Ends
  readonly pm10: Ends
  /** EPA's own colour, and one of a palette for people who see colours differently. */
  readonly color: string
  readonly colorVision: string
}

const ends = (low: number, high: number): Ends => ({ low, high })

export const aqiBands = [
  {
    category: 'good',
    aqi: ends(0, 50),
    pm25: ends(0, 90),
    pm10: ends(0, 54),
    color: '#00E400',
    colorVision: '#8cddf5',
  },
  {
    category: 'moderate',
    aqi: ends(51, 100),
    pm25: ends(91, 354),
    pm10: ends(55, 154),
    color: '#FFFF00',
    colorVision: '#ffef00',
  },
  {
    category: 'unhealthy_sensitive',
    aqi: ends(101, 150),
    pm25: ends(355, 554),
    pm10: ends(155, 254),
    color: '#FF7E00',
    colorVision: '#f7921f',
  },
  {
    category: 'unhealthy',
    aqi: ends(151, 200),
    pm25: ends(555, 1254),
    pm10: ends(255, 354),
    color: '#FF0000',
    colorVision: '#ed1d24',
  },
  {
    category: 'very_unhealthy',
    aqi: ends(201, 300),
    pm25: ends(1255, 2254),
    pm10: ends(355, 424),
    color: '#8F3F97',
    colorVision: '#a3064b',
  },
  {
    category: 'hazardous',
    aqi: ends(301, 500),
    pm25: ends(2255, 3254),
    pm10: ends(425, 604),
    color: '#7E0023',
    colorVision: '#6d0526',
  },
] as const satisfies readonly AqiBand[]

const largestAqi = 500

/** The index of every step of the table, so that a reading costs a look-up. */
function stepsOf(pollutant: Pollutant): Uint16Array {
  const indices: number[] = []
  for (const band of aqiBands) {
    const { low, high } = band[pollutant]
    const width = high - low
    const rise = band.aqi.high - band.aqi.low
    for (let step = low; step <= high; step++) {
      // nearest integer in whole numbers; no step of these tables lies halfway between two
      indices.push(band.aqi.low + Math.floor((2 * rise * (step - low) + width) / (2 * width)))
    }
  }
  return Uint16Array.from(indices)
}

const steps = { pm25: stepsOf('pm25'), pm10: stepsOf('pm10') } as const
const hundredthsPerStep = { pm25: 10, pm10: 100 } as const

/** @param hundredths of a µg/m³, whole; below 0 counts as 0 */
const stepOf = (pollutant: Pollutant, hundredths: number): number =>
  hundredths <= 0 ? 0 : Math.floor(hundredths / hundredthsPerStep[pollutant])

/** The index of one pollutant alone. @param hundredths of a µg/m³, whole */
export const subIndex = (pollutant: Pollutant, hundredths: number): number =>
  steps[pollutant][stepOf(pollutant, hundredths)] ?? largestAqi

/** The index of a reading, null where it holds no PM; arguments are hundredths of a µg/m³. */
export function aqiOf(pm25: number | null, pm10: number | null): number | null {
  if (pm25 === null) return pm10 === null ? null : subIndex('pm10', pm10)
  const fine = subIndex('pm25', pm25)
  if (pm10 === null) return fine
  const coarse = subIndex('pm10', pm10)
  return coarse > fine ? coarse : fine
}

export type AqiDetail = {
  readonly aqi: number
  readonly category: AqiCategory
  /** The pollutant that gave the index; PM2.5 where both give the same. */
  readonly dominant: Pollutant
  /** A concentration lies above the table. */
  readonly beyondIndex: boolean
}

/** `aqiOf` with its reasons; arguments are hundredths of a µg/m³. */
export function aqiDetail(pm25: number | null, pm10: number | null): AqiDetail | null {
  const aqi = aqiOf(pm25, pm10)
  if (aqi === null) return null
  return {
    aqi,
    category: categoryOf(aqi),
    dominant: pm25 !== null && subIndex('pm25', pm25) === aqi ? 'pm25' : 'pm10',
    beyondIndex: isBeyond('pm25', pm25) || isBeyond('pm10', pm10),
  }
}

const isBeyond = (pollutant: Pollutant, hundredths: number | null): boolean =>
  hundredths !== null && stepOf(pollutant, hundredths) >= steps[pollutant].length

/** @param aqi 0 or more; a mean of indices between two bands belongs to the lower one */
export function categoryOf(aqi: number): AqiCategory {
  let category: AqiCategory = 'good'
  for (const band of aqiBands) if (aqi >= band.aqi.low) category = band.category
  return category
}

/**
 * A computed concentration (hour, NowCast, 24 hours, area), truncated as its pollutant asks.
 * Sums leave 9.0999999999 where 9.1 is meant, so a billionth is added first.
 *
 * @param ugM3 finite  @returns whole hundredths of a µg/m³, for `aqiDetail`
 */
export function truncateConcentration(pollutant: Pollutant, ugM3: number): number {
  const stepHundredths = hundredthsPerStep[pollutant]
  return ugM3 <= 0 ? 0 : Math.floor((ugM3 + 1e-9) * (100 / stepHundredths)) * stepHundredths
}

/** The index of a computed concentration. @param ugM3 finite; below 0 counts as 0 */
export const indexOfConcentration = (pollutant: Pollutant, ugM3: number): number =>
  subIndex(pollutant, truncateConcentration(pollutant, ugM3))
