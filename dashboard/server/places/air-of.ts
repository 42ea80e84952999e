/** How the air is, from the API's answers. */
import { type Pollutant, pollutants } from '../../../core/air/index/air-index.ts'
import { usIndex } from '../../../core/air/index/us-epa.ts'
import { dailyHours, nowcast } from '../../../core/air/nowcast.ts'
import { whoDay } from '../../../core/air/who-2021.ts'
import { floorTo, hourMs } from '../../../core/time.ts'
import type { AirNow, DayMean } from '../../place-now.ts'

/** Means of one clock hour, in µg/m³. */
export type Hour = {
  readonly startMs: number
  readonly n: number
  readonly means: { readonly [P in Pollutant]: number | null }
}

export type Means = { readonly [P in Pollutant]: number | null }

type Known = {
  /** The NowCast, if there are enough hours for it. */
  readonly nowcast: number | null
  readonly hours: readonly Hour[]
  /** Means of the last ten minutes, looked up only without a NowCast. */
  readonly recent: Means | undefined
  readonly nowMs: number
}

export function airOf({ nowcast: value, hours, recent, nowMs }: Known): AirNow | null {
  if (value !== null) {
    const byAge = newestFirst(hours, nowMs)
    const worst = usIndex.worstOf((pollutant) =>
      nowcast(byAge.map((hour) => meanOf(hour, pollutant))),
    )
    return {
      aqi: value,
      category: usIndex.categoryOf(value),
      basis: 'nowcast',
      pollutant: worst?.pollutant ?? null,
    }
  }
  const worst = recent && usIndex.worstOf((pollutant) => recent[pollutant])
  if (worst === undefined) return null
  const { value: aqi, pollutant } = worst
  return { aqi, category: usIndex.categoryOf(aqi), basis: 'ten_minutes', pollutant }
}

const meanOf = (hour: Hour | undefined, pollutant: Pollutant): number | null =>
  hour?.means[pollutant] ?? null

/** The running hour first; undefined for one without readings. */
function newestFirst(hours: readonly Hour[], nowMs: number): readonly (Hour | undefined)[] {
  const byStart = new Map(hours.map((hour) => [hour.startMs, hour]))
  const running = floorTo(nowMs, hourMs)
  return Array.from({ length: dailyHours }, (_, age) => byStart.get(running - age * hourMs))
}

/** The mean that is most times its guideline. @param hours how many have readings */
export function dayOf(means: Means, hours: number): DayMean | null {
  let worst: DayMean | null = null
  for (const pollutant of pollutants) {
    const ugM3 = means[pollutant]
    if (ugM3 === null) continue
    const { guideline } = whoDay[pollutant]
    const timesGuideline = ugM3 / guideline
    if (worst === null || timesGuideline > worst.timesGuideline)
      worst = { pollutant, ugM3, timesGuideline, guideline, hours }
  }
  return worst
}

/** The means of all hours, each with the weight of its readings. */
export function meansOf(hours: readonly Hour[]): Means {
  const mean = (pollutant: Pollutant): number | null => {
    let sum = 0
    let n = 0
    for (const hour of hours) {
      const value = hour.means[pollutant]
      if (value === null) continue
      sum += value * hour.n
      n += hour.n
    }
    return n === 0 ? null : sum / n
  }
  return { pm25: mean('pm25'), pm10: mean('pm10') }
}
