/**
 * What a sensor may send on one day (of arrival, UTC, by the broker's clock), beyond what the gate lets
 * through: a message holds up to 500 readings, so a sensor within its flood bounds could send
 * millions. In memory: a start begins to count from nothing, so a day with a restart has at most as
 * many again. What the operator sends again is not counted.
 */
import { BoundedMap } from '../../core/bounded-map.ts'
import { dayMs } from '../../core/time.ts'

const dayOf = (arrivedMs: number): number => Math.floor(arrivedMs / dayMs)

/**
 * Counts one of a sensor. @returns false: it has sent as many on that day as it may
 * @param arrivedMs by the broker's clock
 */
export type DayBook = (sensor: string, arrivedMs: number) => boolean

/**
 * Late readings, and fresh ones that are older than their sensor's newest: a year of one reading per
 * minute, and much of it twice.
 */
export const mostLateADay = 1_000_000
/**
 * Of what is refused of it, so much is listed one by one in the log, where each item is some 100 bytes;
 * then one item per message, and the rest is counted.
 */
export const mostListedADay = 100_000

export function createDayBook(most: number, mostSensors = 100_000): DayBook {
  const days = new BoundedMap<string, { readonly day: number; readonly count: number }>(mostSensors)
  return (sensor, arrivedMs) => {
    const day = dayOf(arrivedMs)
    const before = days.get(sensor)
    const count = before?.day === day ? before.count : 0
    if (count >= most) return false
    days.set(sensor, { day, count: count + 1 })
    return true
  }
}

/** Fresh readings: one per second, ten times what the fastest device measures. */
export const mostFreshADay = 86_400

/** Counts a fresh reading of the sensor at a slot. @returns false: as many came on that day as may */
export type FreshBook = (slot: number, sensor: string, arrivedMs: number) => boolean

/**
 * By slot: every fresh reading is counted, so it must cost next to nothing.
 * @param mostOf asked for sensors that send very much, which may more than others
 */
export function createFreshBook(
  mostOf: (sensor: string) => number,
  usual = mostFreshADay,
): FreshBook {
  let days = new Int32Array(64)
  let counts = new Uint32Array(64)
  const grow = (slot: number): void => {
    const size = Math.max(slot + 1, 2 * days.length)
    const [formerDays, formerCounts] = [days, counts]
    days = new Int32Array(size)
    counts = new Uint32Array(size)
    days.set(formerDays)
    counts.set(formerCounts)
  }
  return (slot, sensor, arrivedMs) => {
    if (slot >= days.length) grow(slot)
    const day = dayOf(arrivedMs)
    const count = days[slot] === day ? (counts[slot] ?? 0) : 0
    if (count >= usual && count >= mostOf(sensor)) return false
    days[slot] = day
    counts[slot] = count + 1
    return true
  }
}
