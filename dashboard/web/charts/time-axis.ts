/** Where a time axis has lines and labels, in local time. Each day, month or year is named once. */
import { dayMs, hourMs, instantOf, localMs, startOfDay } from '../parts/time/local-clock.ts'

export type TimeAxis = {
  /** Where hours, days, months or years begin. */
  readonly lines: readonly number[]
  readonly labels: readonly Label[]
}
type Label = { readonly timeMs: number; readonly text: string }

type Options = {
  readonly fromMs: number
  readonly toMs: number
  readonly zone: string
  /** In pixels: labels that do not fit are left out. */
  readonly width: number
  readonly locale: string
}

let latest: { readonly key: string; readonly axis: TimeAxis } | undefined

/** The plots of a page ask for the same several times each; local time is slow to find. */
export function timeAxis(options: Options): TimeAxis {
  const key = JSON.stringify(options)
  if (latest?.key !== key) latest = { key, axis: makeAxis(options) }
  return latest.axis
}

function makeAxis(options: Options): TimeAxis {
  const { fromMs, toMs } = options
  const length = toMs - fromMs
  if (length <= 0) return { lines: [], labels: [] }
  const axis = length <= 2.5 * dayMs ? hours(options) : dates(options)
  return { lines: axis.lines, labels: fitting(axis.labels, options) }
}

const pixelsPerLetter = 6.6

/** Those that are whole within the axis, and do not touch the one before. */
function fitting(labels: readonly Label[], { fromMs, toMs, width }: Options): readonly Label[] {
  let endOfLast = Number.NEGATIVE_INFINITY
  return labels.filter(({ timeMs, text }) => {
    const middle = ((timeMs - fromMs) / (toMs - fromMs)) * width
    const half = (text.length * pixelsPerLetter) / 2
    // the margins beside the plot have room for some of it
    if (middle - half < Math.max(-16, endOfLast + 6) || middle + half > width + 10) return false
    endOfLast = middle + half
    return true
  })
}

/** Hours of the clock; midnight is named by its day. */
function hours({ fromMs, toMs, zone, width, locale }: Options): TimeAxis {
  const clock = formatOf(locale, zone, { hour: '2-digit', minute: '2-digit' })
  const day = formatOf(locale, zone, { weekday: 'short', day: 'numeric' })
  const most = Math.max(2, width / 62)
  const each = [1, 2, 3, 6, 12].find((size) => (toMs - fromMs) / (size * hourMs) <= most) ?? 24
  const lines: number[] = []
  const labels: Label[] = []
  for (let at = startOfDay(fromMs, zone); at < toMs; at = startOfDay(at, zone, 1)) {
    const midnight = Math.floor(localMs(at, zone) / dayMs) * dayMs
    for (let hour = 0; hour < 24; hour += each) {
      const timeMs = instantOf(midnight + hour * hourMs, zone)
      if (timeMs < fromMs || timeMs > toMs || timeMs === labels.at(-1)?.timeMs) continue
      lines.push(timeMs)
      labels.push({ timeMs, text: hour === 0 ? day.format(timeMs) : clock.format(timeMs) })
    }
  }
  return { lines, labels }
}

type Unit = {
  readonly longestDays: number
  readonly pixels: number
  readonly each: readonly number[]
  readonly unit: 'day' | 'week' | 'month' | 'year'
}
const units: readonly Unit[] = [
  { unit: 'day', longestDays: 16, pixels: 50, each: [1, 2, 4, 8] },
  { unit: 'week', longestDays: 120, pixels: 62, each: [7, 14, 28, 56] },
  { unit: 'month', longestDays: 900, pixels: 44, each: [1, 2, 3, 6, 12] },
  { unit: 'year', longestDays: Number.POSITIVE_INFINITY, pixels: 44, each: [1, 2, 5, 10, 50] },
]

/** Days, weeks, months or years. A name is in the middle of its own, a week's under its Monday. */
function dates(options: Options): TimeAxis {
  const { fromMs, toMs, zone, width } = options
  const days = (toMs - fromMs) / dayMs
  const { unit, pixels, each } = units.find(({ longestDays }) => days <= longestDays) ?? units[3]!
  const isCalendar = unit === 'month' || unit === 'year'
  const unitDays = { day: 1, week: 1, month: 30.44, year: 365.25 }[unit]
  const fits = (size: number): boolean => (days / (unitDays * size)) * pixels <= width
  const step = each.find(fits) ?? each.at(-1) ?? 1
  const starts = isCalendar ? calendarStarts(options, unit, step) : dayStarts(options, step, unit)
  const name = nameOf(options, unit)
  const lines = starts.filter((at) => at > fromMs && at < toMs)
  const labels = starts.flatMap((at, place): Label[] => {
    const next = starts[place + 1]
    if (next === undefined) return []
    const text = name(at)
    if (unit === 'week') return at < fromMs || at > toMs ? [] : [{ timeMs: at, text }]
    // the first of several days or months is named, and stands under its own
    const ownEnd = step === 1 ? next : isCalendar ? next : startOfDay(at, zone, 1)
    const [from, to] = [Math.max(at, fromMs), Math.min(ownEnd, toMs)]
    return to - from < (ownEnd - at) / 2 ? [] : [{ timeMs: (from + to) / 2, text }]
  })
  return { lines, labels }
}

function nameOf({ zone, locale }: Options, unit: Unit['unit']): (timeMs: number) => string {
  const year = formatOf(locale, zone, { year: 'numeric' })
  if (unit === 'year') return (ms) => year.format(ms)
  if (unit === 'day') return formatted(locale, zone, { weekday: 'short', day: 'numeric' })
  if (unit === 'week') return formatted(locale, zone, { day: 'numeric', month: 'short' })
  const month = formatted(locale, zone, { month: 'short' })
  const isJanuary = (ms: number): boolean => new Date(localMs(ms, zone)).getUTCMonth() === 0
  // the year is said once, where it begins
  return (ms) => (isJanuary(ms) ? year.format(ms) : month(ms))
}

/** Local days from before the period to after it; of weeks the Mondays. */
function dayStarts({ fromMs, toMs, zone }: Options, each: number, unit: Unit['unit']): number[] {
  const firstDay = Math.floor(localMs(fromMs, zone) / dayMs)
  // day 4 of 1970 was a Monday
  const since = unit === 'week' ? (firstDay - 4) % each : 0
  const starts: number[] = []
  for (let day = firstDay - since; ; day += each) {
    const at = instantOf(day * dayMs, zone)
    starts.push(at)
    if (at >= toMs) return starts
  }
}

function calendarStarts(
  { fromMs, toMs, zone }: Options,
  unit: 'month' | 'year' | Unit['unit'],
  each: number,
) {
  const first = new Date(localMs(fromMs, zone))
  const isYear = unit === 'year'
  const place = isYear ? first.getUTCFullYear() : first.getUTCMonth()
  const begin = Math.floor(place / each) * each
  const starts: number[] = []
  for (let count = begin; ; count += each) {
    const local = isYear ? Date.UTC(count, 0) : Date.UTC(first.getUTCFullYear(), count)
    const at = instantOf(local, zone)
    starts.push(at)
    if (at >= toMs) return starts
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(locale: string, zone: string, options: Intl.DateTimeFormatOptions) {
  const key = `${locale} ${zone} ${JSON.stringify(options)}`
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
  formats.set(key, known)
  return known
}
const formatted =
  (locale: string, zone: string, options: Intl.DateTimeFormatOptions) =>
  (timeMs: number): string =>
    formatOf(locale, zone, options).format(timeMs)
