/** Which time charts show: what the address has of it, and the span and steps that it means. */
import {
  dateText,
  dayMs,
  hourMs,
  minuteMs,
  startOfDate,
  startOfDay,
} from '../parts/time/local-clock.ts'

/** Days back from the newest data. */
export const spans = { '24h': 1, '7d': 7, '30d': 30, '1y': 365 } as const
export type SpanName = keyof typeof spans
export const spanNames: readonly SpanName[] = ['24h', '7d', '30d', '1y']

export type Period =
  | { readonly kind: 'span'; readonly span: SpanName }
  /** Dates of the zone on show, both included. */
  | { readonly kind: 'dates'; readonly from: string; readonly to: string }

export const usualPeriod: Period = { kind: 'span', span: '24h' }

/** Nothing, or nonsense, is the last day. */
export function readPeriod(text: string): Period {
  const span = spanNames.find((name) => name === text)
  if (span !== undefined) return { kind: 'span', span }
  const [a = '', b = a, ...more] = text.split('..')
  if (more.length > 0 || startOfDate(a, 'UTC') === undefined || startOfDate(b, 'UTC') === undefined)
    return usualPeriod
  return a <= b ? { kind: 'dates', from: a, to: b } : { kind: 'dates', from: b, to: a }
}

export function periodText(period: Period): string {
  if (period.kind === 'span') return period.span
  return period.from === period.to ? period.from : `${period.from}..${period.to}`
}

/** Of the statistics of the API, from the finest. */
export const steps = ['10_minutes', 'hour', '3_hours', 'day', 'month'] as const
export type Step = (typeof steps)[number]

export const stepMs: Readonly<Record<Step, number>> = {
  '10_minutes': 10 * minuteMs,
  hour: hourMs,
  '3_hours': 3 * hourMs,
  day: dayMs,
  month: 30 * dayMs,
}

export type Shown = {
  readonly fromMs: number
  readonly toMs: number
  /** It ends with what comes in now. */
  readonly isOpen: boolean
  readonly step: Step
}

type Now = {
  readonly zone: string
  readonly nowMs: number
  /** The newest reading: a period that is counted back ends there if it is of another day. */
  readonly newestMs: number | undefined
}

/** At most some hundred steps each: what a screen shows, and what a small answer holds. */
const longest: readonly (readonly [Step, number])[] = [
  ['10_minutes', 2.1 * dayMs],
  ['hour', 12 * dayMs],
  ['3_hours', 45 * dayMs],
  ['day', 800 * dayMs],
]

export const stepFor = (lengthMs: number): Step =>
  longest.find(([, most]) => lengthMs <= most)?.[0] ?? 'month'

export function shownOf(period: Period, { zone, nowMs, newestMs }: Now): Shown {
  if (period.kind === 'dates') {
    const fromMs = startOfDate(period.from, zone) ?? nowMs - dayMs
    const lastMs = startOfDate(period.to, zone) ?? nowMs
    const endMs = startOfDay(lastMs, zone, 1)
    const step = stepFor(endMs - fromMs)
    const isOpen = endMs > nowMs
    return { fromMs, toMs: isOpen ? Math.max(nowMs, fromMs + hourMs) : endMs, isOpen, step }
  }
  const days = spans[period.span]
  const step = stepFor(days * dayMs)
  const isOpen = newestMs === undefined || newestMs > nowMs - dayMs
  // up to the end of the step of the newest reading
  const end = isOpen ? nowMs : Math.min(nowMs, ceilTo(newestMs + 1, Math.min(stepMs[step], hourMs)))
  if (days === 1)
    return { fromMs: floorTo(end - dayMs, stepMs['10_minutes']), toMs: end, isOpen, step }
  if (days === 7) return { fromMs: floorTo(end - 7 * dayMs, hourMs), toMs: end, isOpen, step }
  return { fromMs: startOfDay(end, zone, -days), toMs: end, isOpen, step }
}

const floorTo = (ms: number, sizeMs: number): number => Math.floor(ms / sizeMs) * sizeMs
const ceilTo = (ms: number, sizeMs: number): number => Math.ceil(ms / sizeMs) * sizeMs

/** As many days before what is shown, or after it. @returns undefined where all of it is still to come */
export function moved(shown: Shown, by: -1 | 1, zone: string, nowMs: number): Period | undefined {
  const days = Math.max(1, Math.round((shown.toMs - shown.fromMs) / dayMs))
  const from =
    by === -1
      ? startOfDay(
          shown.fromMs,
          zone,
          shown.fromMs === startOfDay(shown.fromMs, zone) ? -days : 1 - days,
        )
      : startOfDay(shown.toMs - 1, zone, 1)
  if (from > nowMs) return undefined
  const to = startOfDay(from, zone, days - 1)
  return { kind: 'dates', from: dateText(from, zone), to: dateText(to, zone) }
}
