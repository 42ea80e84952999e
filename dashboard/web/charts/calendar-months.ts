import { dateText, dayMs } from '../parts/time/local-clock.ts'
import type { StepAnswer } from './series.ts'

export type MonthDays = {
  /** Of its first day, as if it were UTC. */
  readonly fromMs: number
  /** Weeks from Monday; undefined is a day of another month. */
  readonly weeks: readonly (readonly (Day | undefined)[])[]
}
type Day = { readonly localMs: number; readonly aqi: number | null | undefined }

/** From the month of the first day with an index to that of the last. */
export function monthsOf(days: readonly StepAnswer[], zoneName: string): readonly MonthDays[] {
  const byDate = new Map(
    days.flatMap(({ start_time, aqi }): [string, number][] =>
      typeof aqi.mean === 'number' ? [[dateText(Date.parse(start_time), zoneName), aqi.mean]] : [],
    ),
  )
  const dates = [...byDate.keys()].toSorted()
  const [first, last] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined) return []
  const months: MonthDays[] = []
  for (let month = `${first.slice(0, 7)}-01`; month <= last; month = nextMonth(month)) {
    const fromMs = Date.parse(month)
    const toMs = Date.parse(nextMonth(month))
    // Monday is the first
    const before = (new Date(fromMs).getUTCDay() + 6) % 7
    const cells: (Day | undefined)[] = Array.from({ length: before }, () => undefined)
    for (let at = fromMs; at < toMs; at += dayMs)
      cells.push({ localMs: at, aqi: byDate.get(new Date(at).toISOString().slice(0, 10)) })
    while (cells.length % 7 > 0) cells.push(undefined)
    const weeks = Array.from({ length: cells.length / 7 }, (_, week) =>
      cells.slice(week * 7, week * 7 + 7),
    )
    months.push({ fromMs, weeks })
  }
  return months
}

function nextMonth(date: string): string {
  const next = new Date(date)
  next.setUTCMonth(next.getUTCMonth() + 1)
  return next.toISOString().slice(0, 10)
}
