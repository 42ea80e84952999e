/** The table of the US EPA's index (`us-epa.ts`), for code that needs only that, such as pages. */
import { type Band, categoryIn, ends } from './air-index.ts'

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

/** @param aqi 0 or more; a mean of indices between two bands belongs to the lower one */
export const usCategoryOf = (aqi: number): UsCategory => categoryIn<UsCategory>(usBands, aqi)
