/**
 * The European Air Quality Index of the European Environment Agency in its revision of 2024 (ETC HE
 * Report 2024/17), of which only particulate matter is measured here. It has six levels and
 * nothing between them. The bands were taken from a secondary source, the breakpoints of OpenAQ's
 * `aqi-hub`, which follow that report. They are published in whole µg/m³ (0–5, 6–15, …), and how a
 * value between 5 and 6 is classed is not stated: here a level ends with its upper number, so 5.00
 * is good and 5.01 is fair. It is defined for means of one hour.
 */
import { type Band, ends, type HourMeans, type Pollutant, tableIndex } from './air-index.ts'
import { visionColors } from './vision-colors.ts'

/** A reading has two decimals, so a hundredth is the smallest step. */
const stepsPerUnit = { pm25: 100, pm10: 100 } as const

type Level = {
  readonly category: string
  /** The highest concentration that belongs to it, µg/m³. */
  readonly pm25: number
  readonly pm10: number
  readonly color: string
  readonly colorVision: string
}

const levels = [
  { category: 'good', pm25: 5, pm10: 15, color: '#50F0E6', colorVision: visionColors[0] },
  { category: 'fair', pm25: 15, pm10: 45, color: '#50CCAA', colorVision: visionColors[1] },
  { category: 'moderate', pm25: 50, pm10: 120, color: '#F0E641', colorVision: visionColors[2] },
  { category: 'poor', pm25: 90, pm10: 195, color: '#FF5050', colorVision: visionColors[3] },
  { category: 'very_poor', pm25: 140, pm10: 270, color: '#960032', colorVision: visionColors[4] },
  {
    category: 'extremely_poor',
    pm25: Number.POSITIVE_INFINITY,
    pm10: Number.POSITIVE_INFINITY,
    color: '#7D2181',
    colorVision: visionColors[5],
  },
] as const satisfies readonly Level[]

const bands = levels.map(({ category, color, colorVision, ...highest }, at): Band => {
  const below = levels[at - 1]
  const range = (pollutant: Pollutant) =>
    ends(
      below === undefined ? 0 : below[pollutant] * stepsPerUnit[pollutant] + 1,
      highest[pollutant] * stepsPerUnit[pollutant],
    )
  return {
    category,
    aqi: ends(at + 1, at + 1),
    pm25: range('pm25'),
    pm10: range('pm10'),
    color,
    colorVision,
  }
})

/** The mean of the running hour, else of the previous one. */
const newestHour = ([running = null, before = null]: HourMeans): number | null => running ?? before

export const europeanIndex = tableIndex({
  name: 'eu',
  title: 'European Air Quality Index',
  revision: '2024',
  bands,
  stepsPerUnit,
  averagingHours: 1,
  nowOf: newestHour,
})
