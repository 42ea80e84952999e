/**
 * The sub-index for particulate matter of India's National Air Quality Index (CPCB). The index itself
 * needs three pollutants, so this one has a name of its own. It is of 24-hour means, of which 16 hours
 * must be there. Bands and colours were taken from a secondary source, the breakpoints of OpenAQ's
 * `aqi-hub` (`src/data/breakpoints/india.csv`, after CPCB's report of 2014), which gives them in whole
 * µg/m³ and no upper end of the worst band: concentrations are rounded here, and the worst band has the
 * one value with which it begins. CPCB's own example, as the India Environment Portal quotes it: PM2.5
 * of 31 is 51, of 45 is 75, of 60 is 100.
 */
import { dailyMean } from '../nowcast.ts'
import { ends, tableIndex } from './air-index.ts'
import { visionColors } from './vision-colors.ts'

const neededHours = 16

export const naqiPmIndex = tableIndex({
  name: 'naqi_pm',
  title: 'India NAQI, sub-index of particulate matter',
  revision: '2014',
  bands: [
    {
      category: 'good',
      aqi: ends(0, 50),
      pm25: ends(0, 30),
      pm10: ends(0, 50),
      color: '#00B050',
      colorVision: visionColors[0],
    },
    {
      category: 'satisfactory',
      aqi: ends(51, 100),
      pm25: ends(31, 60),
      pm10: ends(51, 100),
      color: '#92D051',
      colorVision: visionColors[1],
    },
    {
      category: 'moderate',
      aqi: ends(101, 200),
      pm25: ends(61, 90),
      pm10: ends(101, 250),
      color: '#FFFF00',
      colorVision: visionColors[2],
    },
    {
      category: 'poor',
      aqi: ends(201, 300),
      pm25: ends(91, 120),
      pm10: ends(251, 350),
      color: '#FF6500',
      colorVision: visionColors[3],
    },
    {
      category: 'very_poor',
      aqi: ends(301, 400),
      pm25: ends(121, 250),
      pm10: ends(351, 430),
      color: '#FF0000',
      colorVision: visionColors[4],
    },
    {
      category: 'severe',
      aqi: ends(401, 401),
      pm25: ends(251, Number.POSITIVE_INFINITY),
      pm10: ends(431, Number.POSITIVE_INFINITY),
      color: '#C00000',
      colorVision: visionColors[5],
    },
  ],
  stepsPerUnit: { pm25: 1, pm10: 1 },
  isRounded: true,
  averagingHours: 24,
  nowOf: (hours) => dailyMean(hours, neededHours),
})
