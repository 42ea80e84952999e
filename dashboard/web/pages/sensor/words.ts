import type { Flag } from '../../../../core/air/quality.ts'
import type { MeasurementName } from '../../../../core/air/reading.ts'

export const measurementWords: Readonly<Record<MeasurementName, string>> = {
  pm25: 'PM2.5, fine particles',
  pm10: 'PM10, coarse particles',
  co2: 'CO₂',
  temperature: 'Temperature',
  humidity: 'Relative humidity',
}

export const pollutantWords = { pm25: 'PM2.5', pm10: 'PM10' } as const

/** What was noticed about a reading's values. */
export const flagWords: Readonly<Record<Flag, string>> = {
  dropped_pm25: 'PM2.5 was beyond anything a sensor can measure, and left out',
  dropped_pm10: 'PM10 was beyond anything a sensor can measure, and left out',
  dropped_co2: 'CO₂ was beyond anything a sensor can measure, and left out',
  dropped_temperature: 'The temperature was beyond anything a sensor can measure, and left out',
  dropped_humidity: 'The humidity was beyond anything a sensor can measure, and left out',
  pm_high: 'Very high particulate matter, above 500 µg/m³',
  pm_saturated: 'Particulate matter at the ceiling of the sensor: it may be higher still',
  pm25_over_pm10: 'More fine particles than fine and coarse together: one of the two is off',
  co2_unusual: 'Unusual CO₂',
  temperature_unusual: 'Unusual temperature',
  humidity_stuck: 'The humidity has not moved for a long time: the sensor may be stuck',
  time_assigned: 'The sensor sent no time: the time of arrival stands in',
}

export const proofWords = {
  pending: { label: 'waiting', looks: '' },
  anchoring: { label: 'on its way', looks: '' },
  verified: { label: 'anchored', looks: 'ok' },
  mismatch: { label: 'altered', looks: 'error' },
} as const
