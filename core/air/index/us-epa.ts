/**
 * The US EPA Air Quality Index for particulate matter, as revised on 6 May 2024 (EPA-454/B-24-002,
 * 89 FR 16202): the one that is stored with each reading, hashed and alerted on. A concentration is
 * truncated (PM2.5 to 0.1 µg/m³, PM10 to 1 µg/m³), interpolated within its band and rounded to the
 * nearest integer; an index is the larger of its two sub-indices. Sources differ above the table:
 * here the index stays at 500.
 */
import { nowcast } from '../nowcast.ts'
import { type AirIndex, type Pollutant, tableIndex, valueOf } from './air-index.ts'
import { type UsCategory, usBands } from './us-bands.ts'

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
 * The index that a reading receives when it is judged, null if it holds no PM; arguments are
 * whole hundredths of a µg/m³, below 0 counts as 0.
 */
export function usAqiOf(pm25: number | null, pm10: number | null): number | null {
  if (pm25 === null) return pm10 === null ? null : subIndex('pm10', pm10)
  const fine = subIndex('pm25', pm25)
  if (pm10 === null) return fine
  const coarse = subIndex('pm10', pm10)
  return coarse > fine ? coarse : fine
}

export const usIndex: AirIndex<UsCategory> = {
  ...tableIndex<UsCategory>({
    name: 'us',
    title: 'US EPA AQI',
    revision: '2024-05-06',
    bands: usBands,
    stepsPerUnit: usStepsPerUnit,
    averagingHours: 24,
    nowOf: nowcast,
  }),
  // the stored one, which is hashed
  ofReading: ({ aqi }) => aqi,
}
