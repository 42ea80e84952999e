import { mapQuantities, quantities } from '../../../../core/air/quantities.ts'

export const shortWords = mapQuantities(({ short }) => short)
export const longWords = mapQuantities(({ long }) => long)

export const pollutantWords = { pm25: shortWords.pm25, pm10: shortWords.pm10 } as const

const flagWords: ReadonlyMap<string, string> = new Map([
  ...quantities.flatMap(({ name, short }): [string, string][] => [
    [`dropped_${name}`, `${short} was not possible: left out`],
    [`${name}_unusual`, `Unusual value of ${short}`],
  ]),
  ['pm_high', 'Particles above 500 µg/m³'],
  ['pm_saturated', 'Particles at the limit of the sensor'],
  ['pm25_over_pm10', 'PM2.5 above PM10: one is wrong'],
  ['humidity_stuck', 'The humidity does not change'],
  ['pm_flat', 'The particles have not changed for two hours'],
  ['pm_stuck', 'The particles have not changed for six hours'],
  ['pm_zero', 'No particle at all for an hour'],
  ['pm_spike', 'Far above what the sensor measured just before'],
  ['pm_unlike_neighbours', 'Far from what the sensors around measure'],
  ['time_assigned', 'The time of arrival: none was sent'],
])

/** The flags of a reading's values, in words. */
export const wordsOfFlag = (flag: string): string => flagWords.get(flag) ?? flag

export const proofWords = {
  pending: { label: 'waiting', looks: '' },
  anchoring: { label: 'on its way', looks: '' },
  verified: { label: 'anchored', looks: 'ok' },
  mismatch: { label: 'altered', looks: 'error' },
} as const
