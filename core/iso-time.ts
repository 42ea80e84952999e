/**
 * ISO 8601 date-times of the wire, read by position: `Date.parse` would take 29 February of any
 * year, local times and a dozen other forms, and costs three times as much.
 */
import { dayMs, hourMs, minuteMs, secondMs } from './time.ts'

export type IsoVerdict =
  | { readonly timeMs: number }
  | { readonly wrong: 'invalid' | 'no_offset'; readonly asUtcMs?: number }

const invalid: IsoVerdict = { wrong: 'invalid' }
const zero = 48

function digits(text: string, start: number, count: number): number {
  let value = 0
  for (let i = start; i < start + count; i++) {
    const digit = text.charCodeAt(i) - zero
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar (H. Hinnant's algorithm). */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** The range of a four-digit year: every time that is read here lies in it. */
const firstMs = daysFromCivil(0, 1, 1) * dayMs
const lastMs = daysFromCivil(10_000, 1, 1) * dayMs - 1

/**
 * Whether a number is a time in ms since the epoch that `formatIso` can write. For numbers from
 * outside: `Date` throws beyond year 275,760, and one in µs would be a year far ahead.
 */
export const isTimeMs = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= firstMs && value <= lastMs

/** `Z`, `+01:00`, `+0100` or `+01` from `at` to the end, in ms east of UTC; NaN for any other text. */
function offsetMs(text: string, at: number): number {
  const sign = text[at]
  if (sign === 'Z' || sign === 'z') return at + 1 === text.length ? 0 : Number.NaN
  if (sign !== '+' && sign !== '-') return Number.NaN
  const rest = text.length - at - 1
  const colon = rest === 5 && text[at + 3] === ':'
  if (!colon && rest !== 4 && rest !== 2) return Number.NaN
  const hours = digits(text, at + 1, 2)
  const minutes = rest === 2 ? 0 : digits(text, at + (colon ? 4 : 3), 2)
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN
  return (sign === '+' ? 1 : -1) * (hours * hourMs + minutes * minuteMs)
}

/**
 * Reads `YYYY-MM-DDTHH:MM[:SS[.fraction]]` and an offset; fractions are floored to ms. Without an
 * offset the verdict is `no_offset`, with what it would be as UTC.
 */
export function parseIso(text: string): IsoVerdict {
  const separator = text[10]
  if (text.length < 16 || text.length > 40) return invalid
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':') return invalid
  if (separator !== 'T' && separator !== 't' && separator !== ' ') return invalid
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 2)
  const day = digits(text, 8, 2)
  const hour = digits(text, 11, 2)
  const minute = digits(text, 14, 2)
  if (!(year >= 0 && month >= 1 && month <= 12 && hour <= 23 && minute <= 59)) return invalid
  const days = month === 2 && isLeap(year) ? 29 : (daysIn[month - 1] ?? 0)
  if (!(day >= 1 && day <= days)) return invalid

  let at = 16
  let second = 0
  let ms = 0
  if (text[at] === ':') {
    second = digits(text, at + 1, 2)
    if (!(second <= 59)) return invalid
    at += 3
    if (text[at] === '.' || text[at] === ',') {
      const first = ++at
      for (let code = text.charCodeAt(at); code >= zero && code <= zero + 9; ) {
        if (at - first < 3) ms += (code - zero) * 10 ** (2 - (at - first))
        code = text.charCodeAt(++at)
      }
      if (at === first) return invalid
    }
  }
  const local =
    daysFromCivil(year, month, day) * dayMs +
    hour * hourMs +
    minute * minuteMs +
    second * secondMs +
    ms
  if (at === text.length) return { wrong: 'no_offset', asUtcMs: local }
  const offset = offsetMs(text, at)
  const timeMs = local - offset
  return isTimeMs(timeMs) ? { timeMs } : invalid
}

/**
 * `YYYY-MM-DDTHH:MM:SS[.mmm]Z`: whole seconds carry no fraction. For what is stored, and for receipts,
 * which sensors compare as text with what they sent. @param timeMs see `isTimeMs`
 */
export function formatIso(timeMs: number): string {
  const text = formatIsoMs(timeMs)
  return timeMs % secondMs === 0 ? `${text.slice(0, -5)}Z` : text
}

/**
 * `YYYY-MM-DDTHH:MM:SS.mmmZ`: always of one width, so that texts sort as their times do, and a
 * program that infers the format from one of them reads all. For everything that is sent to clients.
 */
export const formatIsoMs = (timeMs: number): string =>
  // `Date` only as a formatter of its argument: the clock is never read
  // oxlint-disable-next-line no-restricted-globals
  new Date(timeMs).toISOString()

/** A stored time in the form that is sent to clients. */
export function toIsoMs(text: string): string {
  const verdict = parseIso(text)
  return 'timeMs' in verdict ? formatIsoMs(verdict.timeMs) : text
}
