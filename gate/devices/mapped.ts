/**
 * A device's message in our own names and units. Each kind of device has one file here that turns
 * the parsed message into this; none of them knows how it arrived (HTTP, MQTT) or which sensor it
 * is.
 */
import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'

/** In the units of the table of quantities; not yet rounded or believed. */
export type MappedFields = { readonly [Name in QuantityName]?: number }

/** Something in the message that might have been a value and was left out. */
export type Ignored = { readonly key: string; readonly why: string }

export type MappedReading = {
  /** None: the message is sound, but holds nothing that we measure. */
  readonly fields: MappedFields
  /** When it was measured, ms since the epoch; undefined: the device has no clock. */
  readonly timeMs?: number
  readonly ignored: readonly Ignored[]
}

/** The message is unusable; in words for the person who set the device up, naming the field. */
export type Refusal = { readonly refused: string }

export type Mapped = MappedReading | Refusal

export const isRefusal = (mapped: Mapped): mapped is Refusal => 'refused' in mapped

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Collects one reading; what is not a number, and a second value for a field, is noted instead. */
export type Draft = {
  /**
   * @param value a number, or its decimal text as firmware sends it; undefined and null: not there
   * @param convert to our unit, where the device has another
   */
  readonly take: (
    name: QuantityName,
    key: string,
    value: unknown,
    convert?: (value: number) => number,
  ) => void
  readonly ignore: (key: string, why: string) => void
  /** @param otherwise the refusal where no value was taken; undefined: that is not a fault */
  readonly end: (otherwise?: string, timeMs?: number) => Mapped
}

export function openDraft(): Draft {
  const taken: { [Name in QuantityName]?: number } = {}
  const ignored: Ignored[] = []
  const ignore: Draft['ignore'] = (key, why) => {
    if (ignored.length < mostIgnored) ignored.push({ key: key.slice(0, longestKey), why })
  }
  return {
    take(name, key, value, convert = same) {
      if (value === undefined || value === null) return
      // converted it may be beyond the largest number
      const number = numberOf(convert(numberOf(value) ?? Number.NaN))
      if (number === undefined) ignore(key, `${shown(value)} is not a number`)
      else if (taken[name] !== undefined) ignore(key, `${name} is known from another key`)
      else taken[name] = number
    },
    ignore,
    end(otherwise, timeMs) {
      const isEmpty = !quantityNames.some((name) => taken[name] !== undefined)
      if (isEmpty && otherwise !== undefined)
        return {
          refused: [otherwise, ...ignored.map(({ key, why }) => `${key}: ${why}`)].join('; '),
        }
      return { fields: taken, ignored, ...(timeMs === undefined ? {} : { timeMs }) }
    },
  }
}

/** A bound on what a hostile message makes us remember. */
const mostIgnored = 20
const longestKey = 60

const same = (value: number): number => value

const decimal = /^[+-]?\d+(\.\d+)?$/

/** A finite number, or a plain decimal text of at most 32 characters; else undefined. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.length > 32) return undefined
  const text = value.trim()
  return decimal.test(text) ? Number(text) : undefined
}

const shown = (value: unknown): string => {
  if (typeof value === 'string') return `"${value.slice(0, 32)}"`
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value
}

/** Pa → hPa. */
export const hectopascalOf = (pascal: number): number => pascal / 100

/** °F → °C. */
export const celsiusOf = (fahrenheit: number): number => ((fahrenheit - 32) * 5) / 9
