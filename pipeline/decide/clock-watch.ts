/**
 * Whether the broker's clock is behind: when nearly all that comes in is refused as `future`, the
 * clock that it is measured by is wrong and not those of all sensors. Process-wide, minute by minute.
 */
import type { LogMessage } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'

/** Fewer in a minute say nothing. */
const fewestJudged = 20
const mostFuture = 0.9

export type ClockWatch = {
  /** Each committed message. */
  readonly note: (message: Pick<LogMessage, 'readings' | 'refused' | 'duplicates'>) => void
  readonly isBehind: () => boolean
}

type Options = {
  /** A clock that never jumps, ms. */
  readonly monotonicMs: () => number
  readonly onChange: (isBehind: boolean, of: { future: number; judged: number }) => void
}

export function createClockWatch({ monotonicMs, onChange }: Options): ClockWatch {
  let untilMs = monotonicMs() + minuteMs
  let isBehind = false
  let future = 0
  let judged = 0
  return {
    note: ({ readings, refused, duplicates }) => {
      if (monotonicMs() >= untilMs) {
        const now = future > mostFuture * judged
        if (judged >= fewestJudged && now !== isBehind) {
          isBehind = now
          onChange(isBehind, { future, judged })
        }
        untilMs = monotonicMs() + minuteMs
        future = 0
        judged = 0
      }
      judged += readings.length
      for (const [, count] of duplicates) judged += count
      for (const { reason } of refused) {
        if (reason === 'partial') continue
        judged++
        if (reason === 'future') future++
      }
    },
    isBehind: () => isBehind,
  }
}
