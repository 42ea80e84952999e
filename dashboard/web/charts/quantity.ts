/** How charts name and write a quantity, the index, or a step of time. */
import { quantities } from '../../../core/air/quantities.ts'
import { whoDay } from '../../../core/air/who-2021.ts'
import { namesOf, unitOf } from '../parts/air/quantity-names.ts'
import { dayMs } from '../parts/time/local-clock.ts'
import { texts } from '../texts.ts'
import type { Guide } from './plot-ground.ts'
import { extentOf, type Line } from './series.ts'
import { format, words } from './words.ts'

type Shown = {
  readonly short: string
  readonly long: string
  readonly unit: string
  readonly digits: number
}

export function shownAs(name: string): Shown {
  const quantity = quantities.find((known) => known.name === name)
  if (quantity === undefined)
    return { short: texts.quantities.aqi, long: words.aqi, unit: words.aqiUnit, digits: 0 }
  return { ...namesOf(name), unit: unitOf(quantity.name), digits: quantity.decimals }
}

/** `27.1 µg/m³`; an index has no unit. */
export const amountOf = (name: string, value: number): string => {
  const { unit, digits } = shownAs(name)
  return `${format.number(value, digits)}${name === 'aqi' ? '' : ` ${unit}`}`.trim()
}

export function guideOf(name: string): Guide | undefined {
  if (name !== 'pm25' && name !== 'pm10') return undefined
  const value = whoDay[name].guideline
  return { value, text: words.who(amountOf(name, value)) }
}

/** What a line shows, in a sentence. */
export function summaryOf(name: string, line: Line): string {
  const extent = extentOf(line)
  const { long, unit, digits } = shownAs(name)
  if (extent === undefined) return `${long}: ${words.none}`
  const [mean, low, high] = [extent.mean, extent.low, extent.high].map((value) =>
    format.number(value, digits),
  )
  return words.summary(long, mean ?? '', low ?? '', high ?? '', name === 'aqi' ? '' : unit)
}

/** The time of a step, as exactly as it is long. */
export function stepText(startMs: number, lengthMs: number, zone: string): string {
  if (lengthMs >= 28 * dayMs) return format.date(startMs, { month: 'long', year: 'numeric' }, zone)
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const
  if (lengthMs >= dayMs) return format.date(startMs, { ...day, year: 'numeric' }, zone)
  return format.date(startMs, { ...day, hour: '2-digit', minute: '2-digit' }, zone)
}
