/**
 * What clocks of a zone show, by `Intl`: not every browser has `Temporal`. A local time is written as
 * if it were UTC, in ms, so that a date is made of it by the UTC methods of `Date`.
 */

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(zone, clock)
  return clock
}

/** How far the clocks of a zone are ahead of UTC. */
export function offsetMs(timeMs: number, zone: string): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of clockOf(zone).formatToParts(timeMs)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(timeMs / 1000) * 1000
}

export const localMs = (timeMs: number, zone: string): number => timeMs + offsetMs(timeMs, zone)

/** The instant of a local time: the first of two, or the first after it where clocks skip it. */
export function instantOf(wantedMs: number, zone: string): number {
  const near = [wantedMs - dayMs, wantedMs + dayMs].map((ms) => wantedMs - offsetMs(ms, zone))
  const shown = near.filter((ms) => localMs(ms, zone) === wantedMs)
  return shown.length > 0
    ? Math.min(...shown)
    : firstAfter(Math.min(...near), Math.max(...near), zone)
}

/** The instant at which the offset changes, between two where it differs. */
function firstAfter(earlyMs: number, lateMs: number, zone: string): number {
  const before = offsetMs(earlyMs, zone)
  let [low, high] = [earlyMs, lateMs]
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000
    if (offsetMs(middle, zone) === before) low = middle
    else high = middle
  }
  return high
}

/** The first instant of the local day that holds an instant, or of a later one, in days. */
export const startOfDay = (timeMs: number, zone: string, days = 0): number =>
  instantOf(Math.floor(localMs(timeMs, zone) / dayMs) * dayMs + days * dayMs, zone)

/** `2026-11-23`: the local date. */
export const dateText = (timeMs: number, zone: string): string =>
  new Date(localMs(timeMs, zone)).toISOString().slice(0, 10)

/** The first instant of a date. @returns undefined for what is not a date */
export function startOfDate(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  const isDate = Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)
  return isDate ? instantOf(ms, zone) : undefined
}

/** `UTC+1`, `UTC+5:45`, `UTC`. */
export function offsetText(timeMs: number, zone: string): string {
  const minutes = Math.round(offsetMs(timeMs, zone) / minuteMs)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const end = rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${end}`
}
