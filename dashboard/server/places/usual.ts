/** How the air usually is at a place at an hour of the week, from the API's statistics of 12 weeks. */
import { formatIsoMs } from '../../../core/iso-time.ts'
import { dayMs, floorTo, hourMs, secondMs } from '../../../core/time.ts'
import type { UsualNow } from '../../place-now.ts'
import type { AskApi } from './ask-api.ts'
import { keepAnswers } from './kept.ts'

/** @param path of its statistics: `/v1/areas/Ikeja` */
export type LookUsual = (path: string, network: string, nowMs: number) => Promise<UsualNow | null>

/** By `monday 14`. */
type Week = ReadonlyMap<string, UsualNow>

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
    return week === 'away' ? null : (week.get(hourOfWeek(atMs, timezone)) ?? null)
  }
}

type Step = {
  readonly start_time: string
  readonly coverage: { readonly expected: number; readonly observed: number }
  readonly aqi: { readonly mean?: number | null }
}
type Hour = Omit<Step, 'start_time'> & { readonly weekday: string; readonly hour: number }
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
    if (coverage.observed === 0) continue
    const [weekday = ''] = hourOfWeek(Date.parse(start_time), timezone).split(' ')
    daysOf.set(weekday, (daysOf.get(weekday) ?? 0) + 1)
  }
  const week = new Map<string, UsualNow>()
  for (const { weekday, hour, coverage, aqi } of hours) {
    const count = Math.min(weeks, daysOf.get(weekday) ?? 0)
    const due = (coverage.expected * count) / weeks
    const isEnough =
      count >= fewestDays && coverage.observed >= Math.max(count, leastCoverage * due)
    if (isEnough && typeof aqi.mean === 'number')
      week.set(`${weekday} ${hour}`, { aqi: aqi.mean, weeks: count })
  }
  return week
}

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
