/**
 * The measured values of a reading: a list by the ids of `quantities.ts`, as signed integers of
 * hundredths (18.5 µg/m³ is 1850), `null` if the sensor did not report it: missing is never 0.
 * The basic five are always there. Of the others, the list ends with the last that is not null, so
 * that equal values are equal lists.
 */
import { fromHundredths } from './hundredths.ts'
import {
  type BasicName,
  basicNames,
  type QuantityName,
  quantityIds,
  quantityNames,
} from './quantities.ts'

export type Values = readonly (number | null)[]

/** No list is shorter. */
export const fewestValues = basicNames.length
export const mostValues = quantityNames.length

/** By name instead of by id; what is left out is null. */
export type NamedValues = { readonly [Name in QuantityName]?: number | null }

export const valueOf = (values: Values, name: QuantityName): number | null =>
  values[quantityIds[name]] ?? null

const { pm25, pm10, humidity } = quantityIds
/** Those that every reading is asked for: at a fixed place, which costs a fifth of `valueOf`. */
export const pm25Of = (values: Values): number | null => values[pm25] ?? null
export const pm10Of = (values: Values): number | null => values[pm10] ?? null
export const humidityOf = (values: Values): number | null => values[humidity] ?? null

/** Removes nulls from the end, in place. @param values of at least the basic five */
export function trimmed(values: (number | null)[]): Values {
  let length = values.length
  while (length > fewestValues && (values[length - 1] ?? null) === null) length--
  if (length < values.length) values.length = length
  return values
}

export const valuesOf = (named: NamedValues): Values =>
  trimmed(quantityNames.map((name) => named[name] ?? null))

/** @param a normalised, as is `b`; equal values are a repeat, not a conflict */
export function sameValues(a: Values, b: Values): boolean {
  if (a.length !== b.length) return false
  for (let id = 0; id < a.length; id++) if (a[id] !== b[id]) return false
  return true
}

/** Values in their units: the basic five, and those of the others that are present. */
export type Measurements = { readonly [Name in BasicName]: number | null } & {
  readonly [Name in Exclude<QuantityName, BasicName>]?: number
}

export const inUnit = (hundredths: number | null): number | null =>
  hundredths === null ? null : fromHundredths(hundredths)

export function measurementsOf(values: Values): Measurements {
  const named: { [Name in QuantityName]?: number | null } = {}
  for (const [id, name] of quantityNames.entries()) {
    const value = values[id] ?? null
    if (value !== null || id < fewestValues) named[name] = inUnit(value)
  }
  // the basic five were just set
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return named as Measurements
}
