/**
 * The published rules for values, written a second time independently: nothing of the service is
 * used here, so that an error in one of the two shows. Values are whole hundredths.
 */

/** What the leaf is made of, and what every answer has. */
export const basic = ['pm25', 'pm10', 'co2', 'temperature', 'humidity'] as const
/** With the other quantities of archives; an answer has these where they were measured. */
export const quantities = [...basic, 'pm1', 'pm4', 'pressure', 'noise'] as const
export type Quantity = (typeof quantities)[number]
export type Values = { readonly [Name in Quantity]: number | null }

export const nothing: Values = {
  pm25: null,
  pm10: null,
  co2: null,
  temperature: null,
  humidity: null,
  pm1: null,
  pm4: null,
  pressure: null,
  noise: null,
}

/** Rounds a decimal text half away from zero, digit by digit; undefined: it is not a number. */
export function hundredthsOf(text: string): number | undefined {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text.trim())
  if (parts === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  if (whole + fraction === '') return undefined
  const cut = whole.length + Number(exponent) + 2
  // an array of digits longer than this is beyond every range, or 0
  if (cut > 40) return /[1-9]/.test(whole + fraction) ? undefined : 0
  const digits = '0'.repeat(Math.max(0, -cut)) + whole + fraction
  const digitsLeft = digits.slice(0, Math.max(0, cut)).padEnd(Math.max(0, cut), '0')
  const size = Number(digitsLeft) + (Number(digits[Math.max(0, cut)] ?? '0') >= 5 ? 1 : 0)
  return sign === '-' && size !== 0 ? -size : size
}

/** Low and high in hundredths, both believed. */
const believed: Readonly<Record<Quantity, readonly [number, number]>> = {
  pm25: [0, 100_000],
  pm10: [0, 100_000],
  co2: [0, 4_000_000],
  temperature: [-4_000, 8_500],
  humidity: [0, 10_000],
  pm1: [0, 100_000],
  pm4: [0, 100_000],
  pressure: [30_000, 110_000],
  noise: [0, 14_000],
}

/** US EPA, May 2024: index from, to; PM2.5 from, to in tenths; PM10 from, to in whole µg/m³. */
const table = [
  [0, 50, 0, 90, 0, 54],
  [51, 100, 91, 354, 55, 154],
  [101, 150, 355, 554, 155, 254],
  [151, 200, 555, 1254, 255, 354],
  [201, 300, 1255, 2254, 355, 424],
  [301, 500, 2255, 3254, 425, 604],
] as const

const names = [
  'good',
  'moderate',
  'unhealthy_sensitive',
  'unhealthy',
  'very_unhealthy',
  'hazardous',
] as const

type Index = { readonly aqi: number; readonly isBeyond: boolean }

/** @param value hundredths of a µg/m³, not negative */
export function indexOf(pollutant: 'pm25' | 'pm10', value: number): Index {
  const column = pollutant === 'pm25' ? 2 : 4
  const truncated = Math.trunc(value / (pollutant === 'pm25' ? 10 : 100))
  for (const band of table) {
    const [from, to] = [band[column], band[column + 1] ?? Number.NaN]
    if (truncated > to) continue
    const share = (truncated - from) / (to - from)
    return { aqi: Math.round(band[0] + share * (band[1] - band[0])), isBeyond: false }
  }
  return { aqi: 500, isBeyond: true }
}

export type ReadingIndex = {
  readonly aqi: number | null
  readonly category: string | null
  readonly dominant: string | null
  readonly isBeyond: boolean
}

export function indexOfReading({ pm25, pm10 }: Values): ReadingIndex {
  const fine = pm25 === null ? undefined : indexOf('pm25', pm25)
  const coarse = pm10 === null ? undefined : indexOf('pm10', pm10)
  if (fine === undefined && coarse === undefined)
    return { aqi: null, category: null, dominant: null, isBeyond: false }
  const aqi = Math.max(fine?.aqi ?? 0, coarse?.aqi ?? 0)
  return {
    aqi,
    category: categoryOf(aqi),
    dominant: fine?.aqi === aqi ? 'pm25' : 'pm10',
    isBeyond: fine?.isBeyond === true || coarse?.isBeyond === true,
  }
}

/** A mean between two bands belongs to the lower one. */
export const categoryOf = (aqi: number): string =>
  names[table.findLastIndex(([from]) => aqi >= from)] ?? 'good'

/** The names of the bits of `flags`, from bit 0 on. */
const flagNames = [
  'dropped_pm25',
  'dropped_pm10',
  'dropped_co2',
  'dropped_temperature',
  'dropped_humidity',
  'pm_high',
  'pm_saturated',
  'pm25_over_pm10',
  'co2_unusual',
  'temperature_unusual',
  'humidity_stuck',
  'time_assigned',
  'dropped_pm1',
  'dropped_pm4',
  'dropped_pressure',
  'dropped_no2',
  'dropped_o3',
  'dropped_co',
  'dropped_so2',
  'dropped_voc_index',
  'dropped_nox_index',
  'dropped_tvoc',
  'dropped_noise',
  'pm_flat',
  'pm_stuck',
  'pm_zero',
  'pm_spike',
  'pm_unlike_neighbours',
] as const

export const flagsOf = (...set: readonly (typeof flagNames)[number][]): number =>
  flagNames.reduce((bits, name, bit) => (set.includes(name) ? bits + 2 ** bit : bits), 0)

export const namesOfFlags = (bits: number): string[] =>
  flagNames.filter((_, bit) => Math.floor(bits / 2 ** bit) % 2 === 1)

/**
 * The accepted values of a reading and its flags, apart from those that need the order of readings.
 */
export function judged(raw: Values): { readonly values: Values; readonly flags: number } {
  const dropped = quantities.filter((name) => {
    const value = raw[name]
    return value !== null && (value < believed[name][0] || value > believed[name][1])
  })
  const values = { ...raw, ...Object.fromEntries(dropped.map((name) => [name, null])) }
  const { pm25, pm10, co2, temperature } = values
  const isAny = (test: (pm: number) => boolean) =>
    [pm25, pm10].some((pm) => pm !== null && test(pm))
  const flags = flagsOf(
    ...dropped.map((name) => `dropped_${name}` as const),
    ...(isAny((pm) => pm > 50_000) ? (['pm_high'] as const) : []),
    ...(isAny((pm) => pm === 99_990) ? (['pm_saturated'] as const) : []),
    ...(pm25 !== null && pm10 !== null && pm25 > pm10 ? (['pm25_over_pm10'] as const) : []),
    ...(co2 !== null && (co2 < 30_000 || co2 > 500_000) ? (['co2_unusual'] as const) : []),
    ...(temperature !== null && (temperature < 1_000 || temperature > 5_000)
      ? (['temperature_unusual'] as const)
      : []),
  )
  return { values, flags }
}
