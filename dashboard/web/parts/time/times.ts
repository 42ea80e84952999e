import { texts } from '../../texts.ts'

const { time } = texts.common
const { units } = time

/** `2026-01-01 00:07:01 UTC` */
export const utcTime = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** How long ago, in its largest unit: `just now`, `4 min ago`, `in 2 h`. */
export function ago(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000)
  if (Math.abs(seconds) < 10) return time.now
  const length = duration(Math.abs(seconds))
  return seconds < 0 ? time.after(length) : time.before(length)
}

/** Beyond this a number of days says little to a person. */
export const isLongAgo = (ms: number, nowMs: number): boolean => nowMs - ms > 60 * 86_400_000

/** `42 s`, `7 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} ${units.second}`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} ${units.minute}`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return together(hours, units.hour, minutes % 60, units.minute)
  const days = Math.floor(hours / 24)
  return together(days, units.day, hours % 24, units.hour)
}

const together = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
