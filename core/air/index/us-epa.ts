/**
 * The US EPA Air Quality Index for particulate matter, as revised on 6 May 2024 (EPA-454/B-24-002,
 * 89 FR 16202): the one that is stored with each reading, hashed and alerted on. A concentration is
 * truncated (PM2.5 to 0.1 µg/m³, PM10 to 1 µg/m³), interpolated within its band and rounded to the
 * nearest integer; an index is the larger of its two sub-indices. Sources differ above the table:
 * here the index stays at 500.
 */
import { nowcast } from '../nowcast.ts'
import {
  type AirIndex,
  type Band,
  categoryIn,
  ends,
  type Pollutant,
  tableIndex,
  valueOf,
} from './air-index.ts'

export type UsCategory =
  | 'good'
  | 'moderate'
  | 'unhealthy_sensitive'
  | 'unhealthy'
  | 'very_unhealthy'
  | 'hazardous'

export const usBands = [
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
] as const satisfies readonly Band<UsCategory>[]

export const usStepsPerUnit = { pm25: 10, pm10: 1 } as const

const largest = 500

/** The index of every step of the table, so that a reading costs a look-up. */
const stepsOf = (pollutant: Pollutant): Uint16Array =>
  Uint16Array.from({ length: (usBands.at(-1)?.[pollutant].high ?? 0) + 1 }, (_, step) =>
    valueOf(usBands, pollutant, step),
  )

const steps = { pm25: stepsOf('pm25'), pm10: stepsOf('pm10') } as const
const hundredthsPerStep = { pm25: 10, pm10: 100 } as const

const subIndex = (pollutant: Pollutant, hundredths: number): number =>
  steps[pollutant][hundredths <= 0 ? 0 : Math.floor(hundredths / hundredthsPerStep[pollutant])] ??
  largest

/**
 * The index that a reading is given when it is judged, null where it holds no PM; arguments are
 * whole hundredths of a µg/m³, below 0 counts as 0.
 */
export function usAqiOf(pm25: number | null, pm10: number | null): number | null {
  if (pm25 === null) return pm10 === null ? null : subIndex('pm10', pm10)
  const fine = subIndex('pm25', pm25)
  if (pm10 === null) return fine
  const coarse = subIndex('pm10', pm10)
  return coarse > fine ? coarse : fine
}

/** @param aqi 0 or more; a mean of indices between two bands belongs to the lower one */
export const usCategoryOf = (aqi: number): UsCategory => categoryIn<UsCategory>(usBands, aqi)

export const usIndex: AirIndex<UsCategory> = {
  ...tableIndex<UsCategory>({
    name: 'us',
    title: 'US EPA AQI',
    revision: '2024-05-06',
    bands: usBands,
    stepsPerUnit: usStepsPerUnit,
    nowOf: nowcast,
  }),
  // as it was stored, which is what is hashed
  ofReading: ({ aqi }) => aqi,
}
