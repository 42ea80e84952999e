import { minuteMs } from '../../core/time.ts'
import { bell, type Draw } from './chance.ts'
import { type CitySensor, roundTo } from './city.ts'
import { clamp, weatherAt } from './weather.ts'

export type Measured = {
  readonly pm25: number
  readonly pm10: number
  readonly co2: number
  readonly temperature: number
  readonly humidity: number
}

const place = { drift: 201, noise: 202, coarse: 203, climate: 204 } as const

/**
 * What a sensor would measure at a time. Pure: the same sensor, time and seed give the same values.
 */
export function measure(sensor: CitySensor, timeMs: number, draw: Draw): Measured {
  const weather = weatherAt(timeMs, draw)
  const { area, exposure, index } = sensor
  const rush = trafficAt(weather.hour, weather.isWeekend) * area.traffic
  const cooking = peak(weather.hour, 20, 1.6)
  const local = 9 + 13 * rush + 9 * area.smoke + 5 * cooking
  const washed = 1 - 0.55 * weather.rain
  const drift = Math.exp(0.25 * smoothNoise(draw, [place.drift, index], timeMs, 40 * minuteMs))
  const noise = 1 + 0.05 * bell(draw, place.noise, index, timeMs)
  const fine = local * weather.stagnation * exposure * drift * washed * noise
  const pm25 = clamp(fine + 70 * weather.dust * drift, 1, 480)
  const coarse = (0.55 + 0.1 * bell(draw, place.coarse, index, timeMs)) * fine
  const pm10 = clamp(pm25 + Math.abs(coarse) + 150 * weather.dust * drift, pm25, 900)
  const wobble = bell(draw, place.climate, index, timeMs)
  return {
    pm25: roundTo(pm25, 1),
    pm10: roundTo(pm10, 1),
    co2: Math.round(418 + sensor.co2Offset + 38 * rush + 22 * weather.stagnation + 4 * wobble),
    temperature: roundTo(weather.temperatureC + sensor.temperatureOffset + 0.15 * wobble, 1),
    humidity: roundTo(
      clamp(weather.humidityPercent + sensor.humidityOffset + 0.6 * wobble, 5, 100),
      1,
    ),
  }
}

/** How full the roads are, 0…1: two peaks on working days, one broad and late at the weekend. */
export function trafficAt(hour: number, isWeekend: boolean): number {
  const busy = isWeekend
    ? 0.5 * peak(hour, 16, 4)
    : peak(hour, 7.5, 1.4) + 0.35 * peak(hour, 13, 3) + 0.95 * peak(hour, 18.5, 2)
  return Math.min(1, busy)
}

/** 1 at `at`, falling to both sides within about `width` hours, round the clock. */
function peak(hour: number, at: number, width: number): number {
  const apart = Math.abs(hour - at)
  const distance = Math.min(apart, 24 - apart)
  return Math.exp(-((distance / width) ** 2))
}

/** About normal, changing no faster than `stepMs`. */
function smoothNoise(draw: Draw, where: readonly number[], timeMs: number, stepMs: number): number {
  const slot = Math.floor(timeMs / stepMs)
  const within = timeMs / stepMs - slot
  const eased = within * within * (3 - 2 * within)
  return bell(draw, ...where, slot) * (1 - eased) + bell(draw, ...where, slot + 1) * eased
}
