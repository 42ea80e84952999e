/**
 * What a reading's values are worth. A value no sensor of its kind can measure is dropped; a value
 * that can be true but seldom is stays, with a flag. Flags are derived from the values, so they are
 * stored and served but never hashed.
 */
import type { Hundredths, MeasurementName } from './reading.ts'

/**
 * Flag → bit number in `Reading.flags`. Stored and sent: append, never renumber. The names are the
 * wire's words, hence the underscores.
 */
export const flags = {
  dropped_pm25: 0,
  dropped_pm10: 1,
  dropped_co2: 2,
  dropped_temperature: 3,
  dropped_humidity: 4,
  /** A PM value above 500 µg/m³. */
  pm_high: 5,
  /** A PM value of exactly 999.9 µg/m³, the ceiling of the SDS011. */
  pm_saturated: 6,
  /** More fine dust than fine and coarse together. */
  pm25_over_pm10: 7,
  co2_unusual: 8,
  temperature_unusual: 9,
  /** `stuckAfter` equal humidities or more; set by whoever remembers the former readings. */
  humidity_stuck: 10,
  /** The sensor sent no time: the gate's arrival time stands in. */
  time_assigned: 11,
} as const

export type Flag = keyof typeof flags

/** The flag as a number with its one bit set, to be or-ed into `Reading.flags`. */
export const maskOf = (flag: Flag): number => 1 << flags[flag]

// Object.keys is typed string[]; the cast only says which strings
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const flagNames = Object.keys(flags) as Flag[]

/** The flags set in `bits`, in bit order; bits without a name are left out. */
export const namesOf = (bits: number): Flag[] =>
  flagNames.filter((flag) => (bits & maskOf(flag)) !== 0)

/** So many equal humidities in a row mean a stuck sensor. */
export const stuckAfter = 24

/** Both ends belong to the range; hundredths. */
export type Range = { readonly low: number; readonly high: number }

/** Outside of these a value is dropped: 1000 µg/m³, 40,000 ppm, −40…85 °C, 100 %RH. */
export const hardRanges: Readonly<Record<MeasurementName, Range>> = {
  pm25: { low: 0, high: 100_000 },
  pm10: { low: 0, high: 100_000 },
  co2: { low: 0, high: 4_000_000 },
  temperature: { low: -4_000, high: 8_500 },
  humidity: { low: 0, high: 10_000 },
}

/** Outside of these a value is flagged: 300…5000 ppm; 10…50 °C, as it is in Lagos. */
export const usualRanges = {
  co2: { low: 30_000, high: 500_000 },
  temperature: { low: 1_000, high: 5_000 },
} as const satisfies Partial<Record<MeasurementName, Range>>

const highPm = 50_000
const saturatedPm = 99_990

const bit = {
  droppedPm25: maskOf('dropped_pm25'),
  droppedPm10: maskOf('dropped_pm10'),
  droppedCo2: maskOf('dropped_co2'),
  droppedTemperature: maskOf('dropped_temperature'),
  droppedHumidity: maskOf('dropped_humidity'),
  pmHigh: maskOf('pm_high'),
  pmSaturated: maskOf('pm_saturated'),
  pm25OverPm10: maskOf('pm25_over_pm10'),
  co2Unusual: maskOf('co2_unusual'),
  temperatureUnusual: maskOf('temperature_unusual'),
  timeAssigned: maskOf('time_assigned'),
} as const

const isOutside = (value: number | null, range: Range): boolean =>
  value !== null && (value < range.low || value > range.high)

export type Judged = {
  /** The believable values; the same object that was judged where none was dropped. */
  readonly values: Hundredths
  /** All flags but `humidity_stuck`. */
  readonly flags: number
  /** No value at all is left: the reading is out of range, or was empty from the start. */
  readonly nothingLeft: boolean
}

/** @param raw normalised already (`fixed.ts`); may hold more fields, which only `raw` itself keeps */
export function judgeValues(
  raw: Hundredths,
  { timeAssigned }: { readonly timeAssigned: boolean },
): Judged {
  const dropped = droppedBits(raw)
  const values = dropped === 0 ? raw : without(raw, dropped)
  const { pm25, pm10, co2, temperature, humidity } = values
  return {
    values,
    flags: dropped | unusualBits(values) | (timeAssigned ? bit.timeAssigned : 0),
    nothingLeft:
      pm25 === null && pm10 === null && co2 === null && temperature === null && humidity === null,
  }
}

function droppedBits({ pm25, pm10, co2, temperature, humidity }: Hundredths): number {
  let bits = 0
  if (isOutside(pm25, hardRanges.pm25)) bits |= bit.droppedPm25
  if (isOutside(pm10, hardRanges.pm10)) bits |= bit.droppedPm10
  if (isOutside(co2, hardRanges.co2)) bits |= bit.droppedCo2
  if (isOutside(temperature, hardRanges.temperature)) bits |= bit.droppedTemperature
  if (isOutside(humidity, hardRanges.humidity)) bits |= bit.droppedHumidity
  return bits
}

const without = (raw: Hundredths, dropped: number): Hundredths => ({
  pm25: dropped & bit.droppedPm25 ? null : raw.pm25,
  pm10: dropped & bit.droppedPm10 ? null : raw.pm10,
  co2: dropped & bit.droppedCo2 ? null : raw.co2,
  temperature: dropped & bit.droppedTemperature ? null : raw.temperature,
  humidity: dropped & bit.droppedHumidity ? null : raw.humidity,
})

function unusualBits({ pm25, pm10, co2, temperature }: Hundredths): number {
  let bits = 0
  if ((pm25 !== null && pm25 > highPm) || (pm10 !== null && pm10 > highPm)) bits |= bit.pmHigh
  if (pm25 === saturatedPm || pm10 === saturatedPm) bits |= bit.pmSaturated
  if (pm25 !== null && pm10 !== null && pm25 > pm10) bits |= bit.pm25OverPm10
  if (isOutside(co2, usualRanges.co2)) bits |= bit.co2Unusual
  if (isOutside(temperature, usualRanges.temperature)) bits |= bit.temperatureUnusual
  return bits
}
