/** How the air usually is at a place at an hour of the week, from the API's statistics of 12 weeks. */
import { formatIsoMs } from '../../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, secondMs } from '../../../core/time.ts'
import type { PlaceNow, UsualNow } from '../../place-now.ts'
import type { AskApi } from './ask-api.ts'
import { keepAnswers } from './kept.ts'

/** @param path of its statistics: `/v1/areas/Ikeja` */
export type LookUsual = (path: string, network: string, nowMs: number) => Promise<Usual>
export type Usual = Pick<PlaceNow, 'usual' | 'usual_from'>

export const notKnown: Usual = { usual: null, usual_from: null }

/** An hour of the week in the weeks that were looked at. */
type KnownHour = Coverage & {
  readonly aqi: number | null
  /** Days of that weekday with readings. */
  readonly days: number
}
type Coverage = { readonly expected: number; readonly observed: number }
/** By `monday 14`; without an hour that has no statistics. */
type Week = { readonly hours: ReadonlyMap<string, KnownHour>; readonly daysOf: Days }
/** Days with readings, by `monday`. */
type Days = ReadonlyMap<string, number>

type Options = {
  readonly ask: AskApi
  readonly timezone: string
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

const weeks = 12
/** Of days of that weekday with readings: fewer say nothing about what is usual. */
const fewestDays = 3
/** Part of the readings that were due in that hour of those weeks. */
const leastCoverage = 0.5

/** A page never waits long for it: what is not known in time is there at the next look. */
export function openUsual({ ask, timezone, nowMs, onFailure }: Options): LookUsual {
  const kept = keepAnswers<Week>({
    freshMs: 6 * hourMs,
    keptMs: dayMs,
    most: 1_000,
    waitMs: secondMs / 2,
    nowMs,
    onFailure,
  })
  return async (path, network, atMs) => {
    const week = await kept(path, async () => await askWeek(ask, path, { network, timezone, atMs }))
    if (week === 'away') return notKnown
    const name = hourOfWeek(atMs, timezone)
    const hour = week.hours.get(name) ?? {
      expected: 0,
      observed: 0,
      aqi: null,
      days: week.daysOf.get(weekdayOf(name)) ?? 0,
    }
    const usual = usualOf(hour)
    const fromMs = atMs + weeksLeft(hour) * 7 * dayMs
    return { usual, usual_from: usual === null ? formatIsoMs(floorTo(fromMs, hourMs)) : null }
  }
}

function usualOf({ aqi, days, expected, observed }: KnownHour): UsualNow | null {
  const due = (expected * days) / weeks
  const isEnough = days >= fewestDays && observed >= Math.max(days, leastCoverage * due)
  return isEnough && aqi !== null ? { aqi, weeks: days } : null
}

/** Until there is enough, if every reading arrives from now on: 1 or more. */
function weeksLeft({ days, expected, observed }: KnownHour): number {
  const perWeek = expected / weeks
  // observed + left × perWeek ≥ leastCoverage × perWeek × (days + left)
  const missing =
    perWeek === 0 ? 0 : Math.ceil((leastCoverage * days - observed / perWeek) / (1 - leastCoverage))
  return Math.max(1, fewestDays - days, missing)
}

type Step = { readonly start_time: string; readonly coverage: Coverage }
type Hour = {
  readonly weekday: string
  readonly hour: number
  readonly coverage: Coverage
  readonly aqi: { readonly mean?: number | null }
}
type Answer<T> = { readonly statistics: readonly T[] }

type Asking = { readonly network: string; readonly timezone: string; readonly atMs: number }

async function askWeek(
  ask: AskApi,
  path: string,
  { network, timezone, atMs }: Asking,
): Promise<Week> {
  const end = floorTo(atMs, hourMs)
  const asked = async <T>(interval: string): Promise<readonly T[]> => {
    const query = new URLSearchParams({
      interval,
      timezone,
      start_time: formatIsoMs(end - weeks * 7 * dayMs),
      end_time: formatIsoMs(end),
      measurements: 'pm25',
      numbers: 'mean',
    })
    return (await ask<Answer<T>>(`${path}/statistics?${String(query)}`, network))?.statistics ?? []
  }
  const [hours, days] = await Promise.all([asked<Hour>('hour_of_week'), asked<Step>('day')])
  const daysOf = new Map<string, number>()
  for (const { start_time, coverage } of days) {
    const startMs = Date.parse(start_time)
    // of today this hour is not over, so today is not one of the weeks
    if (coverage.observed === 0 || startMs > end - dayMs) continue
    const weekday = weekdayOf(hourOfWeek(startMs, timezone))
    daysOf.set(weekday, Math.min(weeks, (daysOf.get(weekday) ?? 0) + 1))
  }
  const known = hours.map(({ weekday, hour, coverage, aqi }): readonly [string, KnownHour] => [
    `${weekday} ${hour}`,
    { ...coverage, aqi: aqi.mean ?? null, days: daysOf.get(weekday) ?? 0 },
  ])
  return { hours: new Map(known), daysOf }
}

const weekdayOf = (hour: string): string => hour.slice(0, hour.indexOf(' '))

/** `monday 14`, as clocks of the zone show it. */
function hourOfWeek(ms: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    weekday: 'long',
    hour: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(ms)
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? ''
  return `${of('weekday').toLowerCase()} ${Number(of('hour'))}`
}
