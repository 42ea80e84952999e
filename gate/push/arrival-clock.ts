import { remember } from '../../core/remember.ts'

/**
 * The time of a reading whose device has no clock. Two messages of a sensor may arrive within a
 * millisecond, and a reading is named by its sensor and time, so each gets a time of its own.
 */
export function arrivalClock(nowMs: () => number, most = 100_000): (sensor: string) => number {
  const last = new Map<string, number>()
  return (sensor) => {
    const timeMs = Math.max(nowMs(), (last.get(sensor) ?? 0) + 1)
    remember(last, sensor, timeMs, most)
    return timeMs
  }
}
