import type { OtherFlag } from '../../../core/air/quality.ts'
import { mapQuantities } from '../../../core/air/quantities.ts'

/** The names of quantities, and what was noticed about their values. */
export const quantities = {
  aqi: 'AQI',
  names: mapQuantities(({ short, long }) => ({ short: `${short}`, long: `${long}` })),
  /** Units that are words of a language; others are the same in all. */
  units: { humidity: '%RH' },
  dropped: (name: string) => `${name} was not possible: left out`,
  unusual: (name: string) => `Unusual value of ${name}`,
  flags: {
    pm_high: 'Particles above 500 µg/m³',
    pm_saturated: 'Particles at the limit of the sensor',
    pm25_over_pm10: 'PM2.5 above PM10: one is wrong',
    humidity_stuck: 'The humidity does not change',
    pm_flat: 'The particles have not changed for two hours',
    pm_stuck: 'The particles have not changed for six hours',
    pm_zero: 'No particle at all for an hour',
    pm_spike: 'Far above what the sensor measured just before',
    pm_unlike_neighbours: 'For two hours unlike the sensors around it',
    time_assigned: 'The time of arrival: none was sent',
  } satisfies Record<OtherFlag, string>,
}

export type QuantitiesTexts = typeof quantities
