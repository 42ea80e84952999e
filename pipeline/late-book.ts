import { remember } from '../core/remember.ts'
import { dayMs } from '../core/time.ts'

/**
 * Counts a late reading of a sensor. @returns false: it has sent as many on that day as it may
 * @param arrivedMs by the broker's clock
 */
export type LateBook = (sensor: string, arrivedMs: number) => boolean

/** Of a sensor, on a day of arrival, UTC: a year of one reading per minute, and much of it twice. */
export const mostLateADay = 1_000_000

/** In memory: a start begins to count from nothing. */
export function createLateBook(most = mostLateADay, mostSensors = 100_000): LateBook {
  const days = new Map<string, { readonly day: number; readonly count: number }>()
  return (sensor, arrivedMs) => {
    const day = Math.floor(arrivedMs / dayMs)
    const before = days.get(sensor)
    const count = before?.day === day ? before.count : 0
    if (count >= most) return false
    remember(days, sensor, { day, count: count + 1 }, mostSensors)
    return true
  }
}
