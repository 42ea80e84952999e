import { mapQuantities, quantities } from '../../../../core/air/quantities.ts'

export const shortWords = mapQuantities(({ short }) => short)
export const longWords = mapQuantities(({ long }) => long)

export const pollutantWords = { pm25: shortWords.pm25, pm10: shortWords.pm10 } as const

const flagWords: ReadonlyMap<string, string> = new Map([
  ...quantities.flatMap(({ name, short }): [string, string][] => [
    [`dropped_${name}`, `${short} was beyond anything a sensor can measure, and left out`],
    [`${name}_unusual`, `Unusual value of ${short}`],
  ]),
  ['pm_high', 'Very high particulate matter, above 500 µg/m³'],
  ['pm_saturated', 'Particulate matter at the ceiling of the sensor: it may be higher still'],
  ['pm25_over_pm10', 'More fine particles than fine and coarse together: one of the two is off'],
  ['humidity_stuck', 'The humidity has not moved for a long time: the sensor may be stuck'],
  ['time_assigned', 'The sensor sent no time: the time of arrival is shown'],
])

/** What was noticed about a reading's values. */
export const wordsOfFlag = (flag: string): string => flagWords.get(flag) ?? flag

export const proofWords = {
  pending: { label: 'waiting', looks: '' },
  anchoring: { label: 'on its way', looks: '' },
  verified: { label: 'anchored', looks: 'ok' },
  mismatch: { label: 'altered', looks: 'error' },
} as const
