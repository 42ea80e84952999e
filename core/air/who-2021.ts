/**
 * WHO's global air quality guidelines of 2021 for particulate matter, with the interim targets on the
 * way there, in µg/m³. A mean of 24 hours should not be above its level on more than three to four days
 * of a year (the 99th percentile).
 */
import type { Pollutant } from './index/air-index.ts'

export const whoLevels = ['it_1', 'it_2', 'it_3', 'it_4', 'guideline'] as const
export type WhoLevel = (typeof whoLevels)[number]
type Levels = { readonly [Level in WhoLevel]: number }

export const whoYear: { readonly [P in Pollutant]: Levels } = {
  pm25: { it_1: 35, it_2: 25, it_3: 15, it_4: 10, guideline: 5 },
  pm10: { it_1: 70, it_2: 50, it_3: 30, it_4: 20, guideline: 15 },
}

export const whoDay: { readonly [P in Pollutant]: Levels } = {
  pm25: { it_1: 75, it_2: 50, it_3: 37.5, it_4: 25, guideline: 15 },
  pm10: { it_1: 150, it_2: 100, it_3: 75, it_4: 50, guideline: 45 },
}

/** A sum of decimals may be a hair above what it is. */
export const isOver = (mean: number, limit: number): boolean => mean > limit + 1e-9
