/** The table of the US EPA's index (`us-epa.ts`), for code that needs only that, such as pages. */
import { type Band, categoryIn, ends } from './air-index.ts'
import { visionColors } from './vision-colors.ts'

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
    colorVision: visionColors[0],
  },
  {
    category: 'moderate',
    aqi: ends(51, 100),
    pm25: ends(91, 354),
    pm10: ends(55, 154),
    color: '#FFFF00',
    colorVision: visionColors[1],
  },
  {
    category: 'unhealthy_sensitive',
    aqi: ends(101, 150),
    pm25: ends(355, 554),
    pm10: ends(155, 254),
    color: '#FF7E00',
    colorVision: visionColors[2],
  },
  {
    category: 'unhealthy',
    aqi: ends(151, 200),
    pm25: ends(555, 1254),
    pm10: ends(255, 354),
    color: '#FF0000',
    colorVision: visionColors[3],
  },
  {
    category: 'very_unhealthy',
    aqi: ends(201, 300),
    pm25: ends(1255, 2254),
    pm10: ends(355, 424),
    color: '#8F3F97',
    colorVision: visionColors[4],
  },
  {
    category: 'hazardous',
    aqi: ends(301, 500),
    pm25: ends(2255, 3254),
    pm10: ends(425, 604),
    color: '#7E0023',
    colorVision: visionColors[5],
  },
] as const satisfies readonly Band<UsCategory>[]

/** @param aqi 0 or more; a mean of indices between two bands belongs to the lower one */
export const usCategoryOf = (aqi: number): UsCategory => categoryIn<UsCategory>(usBands, aqi)
