/**
 * Numbers, dates and plurals by a language, never by the browser's default: a page is in one
 * language throughout. This file and the catalogues import nothing of the pages, because those
 * wait for their texts before they start.
 */
import { type Language, localeOf } from './languages.ts'

export type Plural = {
  readonly one: string
  readonly other: string
}

export type Formats = {
  readonly language: Language
  /** `1,010`. @param digits decimals; `fixed` keeps zeros at the end, for columns */
  readonly number: (
    value: number,
    digits?: number,
    options?: { readonly fixed?: boolean },
  ) => string
  /** `62 %`, from 0.62. */
  readonly percent: (share: number, digits?: number) => string
  /** `1,010 readings`. */
  readonly count: (value: number, nouns: Plural) => string
  /** Only the noun. */
  readonly noun: (value: number, nouns: Plural) => string
  /** `A, B and C` */
  readonly list: (items: readonly string[]) => string
  /** A date, a time or both. @param timeZone IANA; without it the reader's own */
  readonly date: (ms: number, options: Intl.DateTimeFormatOptions, timeZone?: string) => string
  /** `4 minutes ago`, `in 2 hours`, in the largest unit; `now` within ten seconds. */
  readonly ago: (ms: number, nowMs: number) => string
}

/** One of each language: two modules of a page ask for the same. */
export const formatsOf = cached(makeFormats)

function makeFormats(language: Language): Formats {
  const locale = localeOf[language]
  const numbers = cached(
    (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
  )
  const dates = cached(
    (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options),
  )
  const rules = cached(() => new Intl.PluralRules(locale))
  const list = cached(() => new Intl.ListFormat(locale, { type: 'conjunction' }))
  const relative = cached(
    (options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
  )
  const number: Formats['number'] = (value, digits = 0, { fixed = false } = {}) =>
    numbers({
      maximumFractionDigits: digits,
      minimumFractionDigits: fixed ? digits : 0,
      // typed minus, as wide as a plus
    })
      .format(value)
      .replace('-', '−')
  const noun: Formats['noun'] = (value, nouns) =>
    rules().select(value) === 'one' ? nouns.one : nouns.other
  return {
    language,
    number,
    noun,
    percent: (share, digits = 0) =>
      numbers({ style: 'percent', maximumFractionDigits: digits }).format(share),
    count: (value, nouns) => `${number(value, 2)}\u00a0${noun(value, nouns)}`,
    list: (items) => list().format(items),
    date: (ms, options, timeZone) =>
      dates(timeZone === undefined ? options : { ...options, timeZone }).format(ms),
    ago: (ms, nowMs) => agoIn(relative, Math.round((ms - nowMs) / 1000)),
  }
}

type Relative = (options: Intl.RelativeTimeFormatOptions) => Intl.RelativeTimeFormat

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

function agoIn(relative: Relative, seconds: number): string {
  // `now`, `maintenant`: the only word of this file that the language's own rules have
  if (Math.abs(seconds) < 10) return relative({ numeric: 'auto' }).format(0, 'second')
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units[3]
  const always = relative({ numeric: 'always', style: 'short' })
  return always.format(Math.trunc(seconds / length), unit)
}

/** Formatters are slow to make, some 5 ms on a slow phone: one per set of options, when it is needed. */
function cached<Options = void, T = unknown>(
  make: (options: Options) => T,
): (options: Options) => T {
  const made = new Map<string, T>()
  return (options) => {
    const key = JSON.stringify(options) ?? ''
    const former = made.get(key)
    if (former !== undefined) return former
    const next = make(options)
    made.set(key, next)
    return next
  }
}
