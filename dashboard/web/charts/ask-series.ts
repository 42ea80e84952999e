/** What charts ask of the API: only what is drawn, in one answer. */
import { AskError, getJson } from '../data.ts'
import { type Shown, type Step, stepMs, steps } from './period.ts'
import { type Series, type StepAnswer, seriesOf } from './series.ts'
import { merged, smallAnswers } from './small-answers.ts'

export type Target =
  | { readonly kind: 'sensor'; readonly id: string }
  /** By its name or its slug. */
  | { readonly kind: 'area'; readonly name: string }

export const targetKey = (target: Target): string =>
  target.kind === 'sensor' ? target.id : target.name

export const targetOf = (kind: Target['kind'], key: string): Target =>
  kind === 'sensor' ? { kind, id: key } : { kind, name: key }

export function statisticsUrl(target: Target, params: Readonly<Record<string, string>>): string {
  const place =
    target.kind === 'sensor'
      ? `sensors/${encodeURIComponent(target.id)}`
      : `areas/${encodeURIComponent(target.name)}`
  return `/data/v1/${place}/statistics?${new URLSearchParams(params)}`
}

type Ask = {
  readonly shown: Shown
  readonly zone: string
  /** Quantities, and `aqi`, which every answer has. */
  readonly names: readonly string[]
  readonly signal: AbortSignal
}

export type Asked = {
  /** Of the sensor or area, as people know it. */
  readonly name: string
  readonly series: Series
  /** With the step that the answer has. */
  readonly shown: Shown
  /** The same answer as a table. */
  readonly csv: string
}

type Page = {
  readonly area?: { readonly name: string }
  readonly statistics: readonly StepAnswer[]
  readonly next_cursor: string | null
}

/**
 * Asks in longer steps where the API cannot give these in one answer: of many sensors, or where only
 * the archive has the readings.
 */
export async function askSeries(
  target: Target,
  { shown, zone, names, signal }: Ask,
): Promise<Asked> {
  const quantities = names.filter((name) => name !== 'aqi')
  for (let place = steps.indexOf(shown.step); ; place++) {
    const step: Step = steps[place] ?? 'month'
    const isLast = step === 'month'
    const urlOf = (measurements: readonly string[]): string =>
      statisticsUrl(target, {
        interval: step,
        timezone: zone,
        start_time: new Date(shown.fromMs).toISOString(),
        ...(shown.isOpen ? {} : { end_time: new Date(shown.toMs).toISOString() }),
        measurements: (measurements.length > 0 ? measurements : ['pm25']).join(),
        numbers: 'mean,min,max',
        limit: '1000',
      })
    const count = Math.ceil((shown.toMs - shown.fromMs) / stepMs[step])
    const pages = await Promise.all(
      smallAnswers(quantities, count).map((some) => pageOf(urlOf(some), signal, isLast)),
    )
    const whole = pages.filter((page) => page !== undefined)
    const isCut = whole.length < pages.length || whole.some((page) => page.next_cursor !== null)
    if (isCut && !isLast) continue
    const options = { names, toMs: shown.toMs, stepMs: stepMs[step] }
    const series = seriesOf(merged(whole.map(({ statistics }) => statistics)), options)
    const name = whole[0]?.area?.name ?? targetKey(target)
    return { name, series, shown: { ...shown, step }, csv: `${urlOf(quantities)}&format=csv` }
  }
}

/** @returns undefined where longer steps may be had */
async function pageOf(
  url: string,
  signal: AbortSignal,
  isLast: boolean,
): Promise<Page | undefined> {
  try {
    return await getJson<Page>(url, { signal })
  } catch (error) {
    if (!isLast && error instanceof AskError && error.status === 400) return undefined
    throw error
  }
}
