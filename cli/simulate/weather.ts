/** The air over the whole city at a time: season, dust from the Sahara, rain, time of day. */
import { dayMs, hourMs } from '../../core/time.ts'
import { bell, type Draw } from './chance.ts'

export type Weather = {
  /** Hours since midnight in Lagos (UTC+1), 0…24. */
  readonly hour: number
  readonly isWeekend: boolean
  /** Dust that the Harmattan brings, 0…1. */
  readonly dust: number
  /** Rain washes the air, 0…1. */
  readonly rain: number
  readonly temperatureC: number
  readonly humidityPercent: number
  /** How still the air is: particles gather below an inversion at night, about 0.5…1.6. */
  readonly stagnation: number
}

const place = { dust: 101, rain: 102, heat: 103 } as const
const lagosOffsetMs = hourMs

export function weatherAt(timeMs: number, draw: Draw): Weather {
  const localMs = timeMs + lagosOffsetMs
  const day = Math.floor(localMs / dayMs)
  const hour = (localMs - day * dayMs) / hourMs
  const dust = dustOf(localMs, draw)
  const rain = rainOf(day, hour, dust, draw)
  const warmth = Math.cos(((hour - 14.5) / 24) * 2 * Math.PI)
  const heat = 0.8 * bell(draw, place.heat, day)
  return {
    hour,
    // 1 January 1970 was a Thursday
    isWeekend: (day + 4) % 7 === 0 || (day + 4) % 7 === 6,
    dust,
    rain,
    temperatureC: 27.6 + heat + (3.2 + 2 * dust) * warmth - 2.5 * rain,
    humidityPercent: clamp(80 - 13 * warmth - 38 * dust + 12 * rain, 12, 99),
    stagnation: 1.05 - 0.45 * warmth,
  }
}

/** Harmattan: from December to February most days, at its ends few; a day fades into the next. */
function dustOf(localMs: number, draw: Draw): number {
  const day = Math.floor(localMs / dayMs)
  const within = localMs / dayMs - day
  const [today, tomorrow] = [day, day + 1].map((at) => {
    const strength = harmattanChance(at) * 1.6 - draw(place.dust, Math.floor(at / 3))
    return clamp(strength + 0.25 * (draw(place.dust, at) - 0.5), 0, 1)
  })
  return (today ?? 0) * (1 - within) + (tomorrow ?? 0) * within
}

/** 0 in the rains, 0.7 in January. */
function harmattanChance(day: number): number {
  const month = new Date(day * dayMs).getUTCMonth()
  return [0.7, 0.5, 0.1, 0, 0, 0, 0, 0, 0, 0, 0.2, 0.6][month] ?? 0
}

const rainyMonths = [0.03, 0.06, 0.15, 0.3, 0.45, 0.6, 0.5, 0.3, 0.5, 0.4, 0.12, 0.04]

function rainOf(day: number, hour: number, dust: number, draw: Draw): number {
  const month = new Date(day * dayMs).getUTCMonth()
  if (dust > 0.2 || draw(place.rain, day) > (rainyMonths[month] ?? 0)) return 0
  const starts = 10 + 10 * draw(place.rain, day, 1)
  const lasts = 1 + 3 * draw(place.rain, day, 2)
  return hour < starts || hour > starts + lasts ? 0 : 0.4 + 0.6 * draw(place.rain, day, 3)
}

export const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value))
