import { nowMs as clockMs } from './clock.ts'
import { localMonth, localTime } from './local-time.ts'
import { zone, zoneName } from './time-zone.ts'
import { ago, isLongAgo, utcTime } from './times.ts'

type WhenProps = {
  /** ISO 8601, or milliseconds since 1970. */
  readonly at: string | number
  /** `time`: date and time. `ago`: how long ago, or of which month; with the time on hover. */
  readonly as?: 'time' | 'ago'
  /** What `ago` counts from; without it the page's clock, which goes on. */
  readonly nowMs?: number
}

/** A time in the zone on show; its name, and UTC, on hover. */
export function When({ at, as = 'time', nowMs }: WhenProps) {
  const ms = typeof at === 'number' ? at : Date.parse(at)
  if (!Number.isFinite(ms)) return <span>–</span>
  const from = nowMs ?? clockMs()
  const utc = utcTime(ms)
  const own = `${localTime(ms)} (${zoneName(zone.value, ms)})`
  return (
    <time
      dateTime={new Date(ms).toISOString()}
      title={
        zone.value === 'UTC'
          ? utc
          : as === 'time'
            ? `${zoneName(zone.value, ms)}; ${utc}`
            : `${own}; ${utc}`
      }
    >
      {as === 'time' ? localTime(ms) : isLongAgo(ms, from) ? localMonth(ms) : ago(ms, from)}
    </time>
  )
}
