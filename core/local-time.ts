/**
 * Local time: where the hours, days, months and years of an IANA zone begin. A pure function of the
 * zone's rules, which the runtime brings; times are ms since the epoch.
 */
import { dayMs, floorTo, hourMs, minuteMs } from './time.ts'

/** The id of a zone, as the IANA writes it: `Africa/Lagos`. */
export type TimeZone = string & { readonly brand: 'TimeZone' }
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the id of a zone
export const utc = 'UTC' as TimeZone

/** Steps that clocks show: equal parts of a day. */
export const clockSteps = {
  '10_minutes': 10 * minuteMs,
  hour: hourMs,
  '3_hours': 3 * hourMs,
} as const
type ClockStep = keyof typeof clockSteps
type DateStep = 'day' | 'month' | 'year'

/** Steps that follow one another in time; `hour_of_day` and `weekday` are made from hours and days. */
export type LocalStep = ClockStep | DateStep

export const isClockStep = (step: LocalStep): step is ClockStep => step in clockSteps

/** @returns undefined if the runtime knows no zone of that name; offsets such as +05:30 are not names */
export function timeZoneOf(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][\w+/-]{1,63}$/.test(name)) return undefined
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made here only
    return zoned(0, name).timeZoneId as TimeZone
  } catch {
    return undefined
  }
}

const zoned = (timeMs: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(zone)

/** `2026-01-31T00:00:00.000+01:00` */
export const formatLocal = (timeMs: number, zone: TimeZone): string =>
  zoned(timeMs, zone).toString({ fractionalSecondDigits: 3, timeZoneName: 'never' })

/**
 * The instant of what a clock on the wall shows, given as if it were UTC. A time that clocks skip is
 * moved on by what they skip, and of one that they show twice it is the first.
 */
export const instantOfLocal = (asUtcMs: number, zone: TimeZone): number =>
  zoned(asUtcMs, utc).toPlainDateTime().toZonedDateTime(zone).epochMilliseconds

/** The start of the step that holds an instant. */
export function startOfStep(timeMs: number, step: LocalStep, zone: TimeZone): number {
  if (!isClockStep(step)) return startOf(dateOfStep(timeMs, step, zone), zone)
  const [run] = runs(timeMs, timeMs + 1, zone)
  return run === undefined
    ? timeMs
    : Math.max(run.changedMs, startOnClock(timeMs, clockSteps[step], run))
}

/**
 * Where the steps within [from, to) begin, `from` itself first: it may lie within a step. A day has
 * 23 or 25 hours where clocks change, and begins with its first instant, which need not be 00:00; an
 * hour, or another part of a day, is cut in two where the offset changes within it, so that none holds
 * two offsets of a wall clock. A day that a zone left out has no step.
 * @param most at most this many
 */
export function stepStarts(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  step: LocalStep,
  zone: TimeZone,
  most: number,
): number[] {
  const starts = fromMs < toMs ? [fromMs] : []
  const add = (startMs: number): boolean => {
    if (startMs >= toMs || starts.length >= most) return false
    if (startMs > starts.at(-1)!) starts.push(startMs)
    return true
  }
  if (isClockStep(step)) {
    const sizeMs = clockSteps[step]
    for (const run of runs(fromMs, toMs, zone)) {
      if (run.fromMs > fromMs && !add(run.fromMs)) return starts
      let next = startOnClock(run.fromMs, sizeMs, run) + sizeMs
      for (; next < run.toMs; next += sizeMs) if (!add(next)) return starts
    }
    return starts
  }
  if (starts.length === 0) return starts
  for (let date = dateOfStep(fromMs, step, zone); ; ) {
    date = date.add({ [`${step}s`]: 1 })
    if (!add(startOf(date, zone))) return starts
  }
}

/** A span of time in which the offset does not change. */
type Run = {
  readonly fromMs: number
  readonly toMs: number
  /** Since when the offset is this one. */
  readonly changedMs: number
  readonly offsetMs: number
}

function* runs(fromMs: number, toMs: number, zone: TimeZone): Generator<Run> {
  for (let at = fromMs; at < toMs; ) {
    const here = zoned(at, zone)
    const changeMs = here.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
    const before = zoned(at + 1, zone).getTimeZoneTransition('previous')
    yield {
      fromMs: at,
      toMs: Math.min(toMs, changeMs),
      changedMs: before?.epochMilliseconds ?? -Infinity,
      offsetMs: here.offsetNanoseconds / 1e6,
    }
    at = changeMs
  }
}

const startOnClock = (timeMs: number, sizeMs: number, { offsetMs }: Run): number =>
  floorTo(timeMs + offsetMs, sizeMs) - offsetMs

function dateOfStep(timeMs: number, step: DateStep, zone: TimeZone): Temporal.PlainDate {
  const date = zoned(timeMs, zone).toPlainDate()
  if (step === 'day') return date
  return step === 'month' ? date.with({ day: 1 }) : date.with({ month: 1, day: 1 })
}

const startOf = (date: Temporal.PlainDate, zone: TimeZone): number =>
  date.toZonedDateTime(zone).epochMilliseconds

/** The hours that clocks show, 0 to 23, at instants in ascending order. */
export const hoursOfDay = (times: readonly number[], zone: TimeZone): number[] =>
  clockTimes(times, zone).map((localMs) => hoursSince(floorTo(localMs, dayMs), localMs))

/** The same of a week: 0 is Monday 00:00, 167 Sunday 23:00. */
export const hoursOfWeek = (times: readonly number[], zone: TimeZone): number[] =>
  clockTimes(times, zone).map((localMs) =>
    hoursSince(floorTo(localMs - firstMondayMs, 7 * dayMs) + firstMondayMs, localMs),
  )

/** 5 January 1970 */
const firstMondayMs = 4 * dayMs
const hoursSince = (fromMs: number, timeMs: number): number =>
  Math.floor((timeMs - fromMs) / hourMs)

/** What clocks show at instants in ascending order, as if it were UTC. */
function clockTimes(times: readonly number[], zone: TimeZone): number[] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  const all = [...runs(first, last + 1, zone)]
  let at = 0
  return times.map((timeMs) => {
    while (timeMs >= (all[at]?.toMs ?? Infinity)) at++
    return timeMs + (all[at]?.offsetMs ?? 0)
  })
}

/** 1 is Monday, 7 Sunday. */
export const weekday = (timeMs: number, zone: TimeZone): number => zoned(timeMs, zone).dayOfWeek
export const yearOf = (timeMs: number, zone: TimeZone): number => zoned(timeMs, zone).year

/** The first instants of a year and of the next one. */
export const yearSpan = (
  year: number,
  zone: TimeZone,
): { readonly fromMs: number; readonly toMs: number } => ({
  fromMs: startOf(Temporal.PlainDate.from({ year, month: 1, day: 1 }), zone),
  toMs: startOf(Temporal.PlainDate.from({ year: year + 1, month: 1, day: 1 }), zone),
})

/** Whether every step is made of whole UTC steps of that size: then the stored ones fit. */
export const isAligned = (starts: readonly number[], size: 'hour' | 'day'): boolean => {
  const sizeMs = size === 'hour' ? hourMs : dayMs
  return starts.every((start) => start % sizeMs === 0)
}
