import { ago, localTime, utcTime } from './times.ts'

type WhenProps = {
  /** ISO 8601, or milliseconds since 1970. */
  readonly at: string | number
  /** `time`: date and time. `ago`: how long ago, with the time on hover. */
  readonly as?: 'time' | 'ago'
  /** What `ago` counts from. */
  readonly nowMs?: number
}

/** A time in the reader's own zone, with UTC on hover. */
export function When({ at, as = 'time', nowMs = Date.now() }: WhenProps) {
  const ms = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(ms)) return <span>–</span>
  const utc = utcTime(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={utc}>
      {as === 'time' ? localTime(ms) : ago(ms, nowMs)}
    </time>
  )
}
