const local = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/** In the reader's zone and language. */
export const localTime = (ms: number): string => local.format(ms)

/** `2026-01-01 00:07:01 UTC` */
export const utcTime = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** How long ago, in its largest unit: `just now`, `4 min ago`, `in 2 h`. */
export function ago(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000)
  if (Math.abs(seconds) < 10) return 'just now'
  const length = duration(Math.abs(seconds))
  return seconds < 0 ? `in ${length}` : `${length} ago`
}

/** `42 s`, `7 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
}
