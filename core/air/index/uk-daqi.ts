/**
 * The Daily Air Quality Index of the United Kingdom (Defra, 2013), of which only particulate matter is
 * measured here: ten levels of 24-hour means, rounded to whole µg/m³. Bands and colours were compared
 * with a secondary source, the breakpoints of OpenAQ's `aqi-hub` (`src/data/breakpoints/uk.csv`), which
 * follow Defra's documents. Only the colour of level 7 differs: #FF9292 there, #FF6464 in other programs
 * that show the ten levels. Defra's guidance names four colours only: green, yellow, red, purple.
 */
import { dailyMean } from '../nowcast.ts'
import { type Band, ends, type Pollutant, tableIndex } from './air-index.ts'
import { visionColors } from './vision-colors.ts'

/** The highest concentration of each level, µg/m³. */
const levels = [
  { category: 'low', pm25: 11, pm10: 16, color: '#9CFF9C', colorVision: visionColors[0] },
  { category: 'low', pm25: 23, pm10: 33, color: '#31FF00', colorVision: visionColors[0] },
  { category: 'low', pm25: 35, pm10: 50, color: '#31CF00', colorVision: visionColors[0] },
  { category: 'moderate', pm25: 41, pm10: 58, color: '#FFFF00', colorVision: visionColors[1] },
  { category: 'moderate', pm25: 47, pm10: 66, color: '#FFCF00', colorVision: visionColors[1] },
  { category: 'moderate', pm25: 53, pm10: 75, color: '#FF9A00', colorVision: visionColors[1] },
  { category: 'high', pm25: 58, pm10: 83, color: '#FF6464', colorVision: visionColors[3] },
  { category: 'high', pm25: 64, pm10: 91, color: '#FF0000', colorVision: visionColors[3] },
  { category: 'high', pm25: 70, pm10: 100, color: '#990000', colorVision: visionColors[3] },
  {
    category: 'very_high',
    pm25: Number.POSITIVE_INFINITY,
    pm10: Number.POSITIVE_INFINITY,
    color: '#CE30FF',
    colorVision: visionColors[5],
  },
] as const

const bands = levels.map(({ category, color, colorVision, ...highest }, at): Band => {
  const below = levels[at - 1]
  const range = (pollutant: Pollutant) =>
    ends(below === undefined ? 0 : below[pollutant] + 1, highest[pollutant])
  const level = ends(at + 1, at + 1)
  return { category, aqi: level, pm25: range('pm25'), pm10: range('pm10'), color, colorVision }
})

export const ukIndex = tableIndex({
  name: 'uk',
  title: 'UK Daily Air Quality Index',
  revision: '2013',
  bands,
  stepsPerUnit: { pm25: 1, pm10: 1 },
  isRounded: true,
  averagingHours: 24,
  nowOf: dailyMean,
})
